import type { NativeArray } from "../cuda/kernels.ts";
import type { Mask, Values } from "../ragged.ts";
import type { NativeGroups, NativeStats } from "./groups.ts";

/** @internal Kernels of bindings/advantage.cc. */
export interface AdvantageKernels {
  outcomes(
    form: number,
    std: number,
    epsilon: number,
    ddof: number,
    rewards: Values,
    lengths: Float64Array | NativeArray | null,
    ...rest: [...groups: NativeGroups, out: Values, stats: NativeStats]
  ): number;
  tokenRloo(
    baseline: number,
    countSeparators: boolean,
    minTokens: number,
    rewards: Values,
    tokenOffsets: Int32Array,
    mask: Mask | null,
    stepOffsets: Int32Array | null,
    stepEnds: Int32Array | null,
    kl: Values | null,
    klCoefficient: number,
    klAfterBaseline: boolean,
    ...rest: [...groups: NativeGroups, advantages: Values, returns: Values | null, stats: NativeStats]
  ): number;
  stepRloo(
    baseline: number,
    countSeparators: boolean,
    minTokens: number,
    stepRewards: Values,
    stepOffsets: Int32Array,
    stepEnds: Int32Array,
    tokenOffsets: Int32Array,
    mask: Mask | null,
    ...rest: [...groups: NativeGroups, advantages: Values, returns: Values | null, stats: NativeStats]
  ): number;
  rewardToGo(
    rewards: Values,
    tokenOffsets: Int32Array,
    mask: Mask | null,
    gamma: number,
    baselines: Values | null,
    advantages: Values,
    returns: Values,
  ): number;
  gae(
    rewards: Values,
    values: Values,
    tokenOffsets: Int32Array,
    mask: Mask | null,
    bootstrap: Values | null,
    gamma: number,
    lambda: number,
    valueLambda: number,
    advantages: Values,
    returns: Values,
  ): number;
  optimalBaseline(
    rewards: Values,
    logProbs: Values,
    sumSquaredProbs: Values,
    tokenOffsets: Int32Array,
    mask: Mask | null,
    gamma: number,
    ...rest: [...groups: NativeGroups, advantages: Values, returns: Values, stats: NativeStats]
  ): number;
  whiten(
    values: Values,
    mask: Mask | null,
    shiftMean: boolean,
    epsilon: number,
    ddof: number,
    out: Values,
  ): number;
  addPerRow(
    base: Values | null,
    perRow: Values,
    tokenOffsets: Int32Array,
    scale: number,
    spread: number,
    mask: Mask | null,
    out: Values,
  ): number;
  codeVerifiable(verifiable: Values, shift: number, out: Values): number;
  scorableTokens(rewards: Values, tokenOffsets: Int32Array, mask: Mask | null, out: Mask): number;
  klReward(
    rewards: Values,
    kl: Values,
    tokenOffsets: Int32Array,
    coefficient: number,
    mask: Mask | null,
    out: Values,
  ): number;
}
