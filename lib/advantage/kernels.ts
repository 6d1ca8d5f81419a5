import type { FloatArray } from "../ragged.ts";
import type { NativeGroups } from "./groups.ts";

/** @internal Kernels of bindings/advantage.cc. */
export interface AdvantageKernels {
  outcomes(
    form: number,
    std: number,
    epsilon: number,
    ddof: number,
    rewards: FloatArray,
    lengths: Float64Array | null,
    ...rest: [...groups: NativeGroups, out: FloatArray, stats: Float64Array]
  ): number;
  tokenRloo(
    baseline: number,
    countSeparators: boolean,
    minTokens: number,
    rewards: FloatArray,
    tokenOffsets: Int32Array,
    mask: Uint8Array | null,
    stepOffsets: Int32Array | null,
    stepEnds: Int32Array | null,
    kl: FloatArray | null,
    klCoefficient: number,
    klAfterBaseline: boolean,
    ...rest: [
      ...groups: NativeGroups,
      advantages: FloatArray,
      returns: FloatArray | null,
      stats: Float64Array,
    ]
  ): number;
  stepRloo(
    baseline: number,
    countSeparators: boolean,
    minTokens: number,
    stepRewards: FloatArray,
    stepOffsets: Int32Array,
    stepEnds: Int32Array,
    tokenOffsets: Int32Array,
    mask: Uint8Array | null,
    ...rest: [
      ...groups: NativeGroups,
      advantages: FloatArray,
      returns: FloatArray | null,
      stats: Float64Array,
    ]
  ): number;
  rewardToGo(
    rewards: FloatArray,
    tokenOffsets: Int32Array,
    mask: Uint8Array | null,
    gamma: number,
    baselines: FloatArray | null,
    advantages: FloatArray,
    returns: FloatArray,
  ): number;
  gae(
    rewards: FloatArray,
    values: FloatArray,
    tokenOffsets: Int32Array,
    mask: Uint8Array | null,
    bootstrap: FloatArray | null,
    gamma: number,
    lambda: number,
    valueLambda: number,
    advantages: FloatArray,
    returns: FloatArray,
  ): number;
  optimalBaseline(
    rewards: FloatArray,
    logProbs: FloatArray,
    sumSquaredProbs: FloatArray,
    tokenOffsets: Int32Array,
    mask: Uint8Array | null,
    gamma: number,
    ...rest: [...groups: NativeGroups, advantages: FloatArray, returns: FloatArray, stats: Float64Array]
  ): number;
  whiten(
    values: FloatArray,
    mask: Uint8Array | null,
    shiftMean: boolean,
    epsilon: number,
    ddof: number,
    out: FloatArray,
  ): number;
  addPerRow(
    base: FloatArray | null,
    perRow: FloatArray,
    tokenOffsets: Int32Array,
    scale: number,
    spread: number,
    mask: Uint8Array | null,
    out: FloatArray,
  ): number;
  klReward(
    rewards: FloatArray,
    kl: FloatArray,
    tokenOffsets: Int32Array,
    coefficient: number,
    mask: Uint8Array | null,
    out: FloatArray,
  ): number;
}
