import type { FloatArray } from "../ragged.ts";

/** @internal Aggregation as the kernels take it: mode, groups, promptTokens, denominator (NaN: own count), slots. */
export type AggregationArguments = [
  mode: number,
  groups: Int32Array | null,
  promptTokens: Float64Array | null,
  denominator: number,
  slots: Float64Array,
];

/** @internal Kernels of bindings/loss.cc. */
export interface LossKernels {
  policyLoss(
    loss: number,
    parameters: Float64Array,
    logProbs: FloatArray,
    offsets: Int32Array,
    oldLogProbs: FloatArray | null,
    advantages: FloatArray,
    importanceWeights: FloatArray | null,
    mask: Uint8Array | null,
    ...aggregationGradAndPerRow: [...AggregationArguments, gradLogProbs: FloatArray, advantagePerRow: boolean]
  ): number;
  klPenalty(
    estimator: number,
    gradient: number,
    logRatioClamp: number,
    logProbs: FloatArray,
    offsets: Int32Array,
    refLogProbs: FloatArray,
    oldLogProbs: FloatArray | null,
    mask: Uint8Array | null,
    ...aggregationAndOutputs: [...AggregationArguments, values: FloatArray, gradLogProbs: FloatArray]
  ): number;
  valueLoss(
    clipRange: number,
    values: FloatArray,
    offsets: Int32Array,
    oldValues: FloatArray | null,
    returns: FloatArray,
    mask: Uint8Array | null,
    ...aggregationAndGrad: [...AggregationArguments, gradValues: FloatArray]
  ): number;
  entropyBonus(
    entropy: FloatArray,
    offsets: Int32Array,
    mask: Uint8Array | null,
    ...aggregationAndGrad: [...AggregationArguments, gradEntropy: FloatArray]
  ): number;
  importanceWeights(
    correction: number,
    level: number,
    parameters: Float64Array,
    oldLogProbs: FloatArray,
    offsets: Int32Array,
    rolloutLogProbs: FloatArray,
    mask: Uint8Array | null,
    weights: FloatArray,
    kept: Uint8Array,
    slots: Float64Array,
  ): number;
}
