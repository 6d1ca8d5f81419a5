export { PRM_GATE, type PureOptions, type PurePart, type PureResult, runPure } from "./pipeline.ts";
export { EMBEDDED_RECIPE, embeddedPrm, embeddedRl, embeddedSft, type Recipe } from "./recipe.ts";
