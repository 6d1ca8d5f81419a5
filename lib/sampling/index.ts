export type { DrawCounters } from "./counters.ts";
export type { SamplingRule } from "./rule.ts";
export * from "./tokens.ts";
