export { PRM_GATE, type PureOptions, type PurePart, type PureResult, runPure } from "./pipeline.ts";
export { embeddedPrm, embeddedRl, embeddedSft } from "./recipe.ts";
