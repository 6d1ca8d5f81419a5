import { assertCount, assertNumber } from "../validate.ts";
import type { RuleArguments, SeedArguments } from "./kernels.ts";

/** Which tokens may be drawn, and how likely. */
export interface SamplingRule {
  /** Divides the logits, in [1e-6, 1e6]; 0 takes the most likely token. Default 1. */
  readonly temperature?: number;
  /** Draw among so many of the most likely tokens; 0 for all. Default 0. */
  readonly topK?: number;
  /** Draw among the most likely tokens that together have this probability; in (0, 1]. Default 1. */
  readonly topP?: number;
  /** Draw among tokens with at least this share of the most likely one's probability; in [0, 1]. Default 0. */
  readonly minP?: number;
  /** An integer in [0, 2^53). Default 0. */
  readonly seed?: number;
}

/** @internal Weights are integers of 44 bits: sums over more tokens could overflow. */
export const MAX_VOCABULARY = 2 ** 18;

/** @internal A rule with defaults, checked. */
export function checkRule(rule: SamplingRule): { rule: RuleArguments; seed: SeedArguments } {
  const { temperature = 1, topK = 0, topP = 1, minP = 0, seed = 0 } = rule;
  if (temperature !== 0) assertNumber(temperature, "temperature", { low: 1e-6, high: 1e6 });
  assertCount(topK, "topK");
  assertNumber(topP, "topP", { low: 0, high: 1, open: true });
  assertNumber(minP, "minP", { low: 0, high: 1 });
  assertCount(seed, "seed");
  return {
    rule: [temperature, Math.min(topK, MAX_VOCABULARY), topP, minP],
    seed: [seed | 0, Math.floor(seed / 2 ** 32) | 0],
  };
}
