import type { FloatArray } from "../ragged.ts";

/** @internal Kernels of bindings/credit.cc. */
export interface CreditKernels {
  assign(
    form: number,
    stepRewards: FloatArray,
    stepOffsets: Int32Array,
    mask: Uint8Array | null,
    stepEnds: Int32Array | null,
    parameter: number,
    rewards: FloatArray,
    returns: FloatArray,
    outcomes: FloatArray,
    weights: FloatArray | null,
  ): number;
  minFormBackward(
    stepRewards: FloatArray,
    stepOffsets: Int32Array,
    mask: Uint8Array | null,
    temperature: number,
    gradRewards: FloatArray | null,
    gradReturns: FloatArray | null,
    gradOutcomes: FloatArray | null,
    gradStepRewards: FloatArray,
  ): number;
  placeSteps(
    values: FloatArray,
    stepOffsets: Int32Array,
    stepEnds: Int32Array,
    tokenOffsets: Int32Array,
    place: number,
    zeroAt: Uint8Array | null,
    mask: Uint8Array | null,
    out: FloatArray,
  ): void;
  returns(
    rewards: FloatArray,
    tokenOffsets: Int32Array,
    mask: Uint8Array | null,
    gamma: number,
    out: FloatArray,
  ): number;
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
