export { GrowingLength, type GrowingLengthOptions } from "./length.ts";
export type { LevelOptions } from "./levels.ts";
export { OrderedSampler, type OrderedOptions } from "./ordered.ts";
export { informative, type RestOptions } from "./rest.ts";
export { PassRateSampler, type PassRateOptions } from "./weighted.ts";
