import type { Mask, Values } from "../ragged.ts";

/** @internal Kernels of bindings/credit.cc. */
export interface CreditKernels {
  assign(
    form: number,
    stepRewards: Values,
    stepOffsets: Int32Array,
    mask: Mask | null,
    stepEnds: Int32Array | null,
    parameter: number,
    rewards: Values,
    returns: Values,
    outcomes: Values,
    weights: Values | null,
  ): number;
  minFormBackward(
    stepRewards: Values,
    stepOffsets: Int32Array,
    mask: Mask | null,
    temperature: number,
    gradRewards: Values | null,
    gradReturns: Values | null,
    gradOutcomes: Values | null,
    gradStepRewards: Values,
  ): number;
  placeSteps(
    values: Values,
    stepOffsets: Int32Array,
    stepEnds: Int32Array,
    tokenOffsets: Int32Array,
    place: number,
    zeroAt: Mask | null,
    mask: Mask | null,
    out: Values,
  ): number;
  returns(rewards: Values, tokenOffsets: Int32Array, mask: Mask | null, gamma: number, out: Values): number;
  findStepEnds(
    tokenIds: Int32Array,
    tokenOffsets: Int32Array,
    mask: Uint8Array | null,
    separators: Int32Array,
    eos: Int32Array,
    stepEnds: Int32Array,
    stepOffsets: Int32Array,
    separatorTokens: Uint8Array,
  ): number;
}
