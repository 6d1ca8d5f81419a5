export * from "./assign.ts";
export * from "./gradient.ts";
export * from "./returns.ts";
export {
  type FindStepEndsOptions,
  findStepEnds,
  type FoundSteps,
  placeSteps,
  type PlaceStepsOptions,
} from "./steps.ts";
