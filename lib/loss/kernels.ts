import type { NativeArray } from "../cuda/kernels.ts";
import type { DeviceTensor } from "../cuda/tensor.ts";
import type { Mask, Values } from "../ragged.ts";

/** @internal What a loss has to say beside its gradient, as LossSlot in native/include/minform/loss.h. */
export type Slots = Float64Array | DeviceTensor<"float64">;

/** @internal Aggregation as the kernels take it: mode, groups, promptTokens, denominator (NaN: own count), slots. */
export type AggregationArguments = [
  mode: number,
  groups: Int32Array | null,
  promptTokens: Float64Array | NativeArray | null,
  denominator: number,
  slots: Slots,
];

/** @internal Kernels of bindings/loss.cc. */
export interface LossKernels {
  policyLoss(
    loss: number,
    parameters: Float64Array,
    logProbs: Values,
    offsets: Int32Array,
    oldLogProbs: Values | null,
    advantages: Values,
    importanceWeights: Values | null,
    mask: Mask | null,
    ...aggregationGradAndPerRow: [...AggregationArguments, gradLogProbs: Values, advantagePerRow: boolean]
  ): number;
  klPenalty(
    estimator: number,
    gradient: number,
    logRatioClamp: number,
    logProbs: Values,
    offsets: Int32Array,
    refLogProbs: Values,
    oldLogProbs: Values | null,
    mask: Mask | null,
    ...aggregationAndOutputs: [...AggregationArguments, values: Values, gradLogProbs: Values]
  ): number;
  valueLoss(
    clipRange: number,
    values: Values,
    offsets: Int32Array,
    oldValues: Values | null,
    returns: Values,
    mask: Mask | null,
    ...aggregationAndGrad: [...AggregationArguments, gradValues: Values]
  ): number;
  entropyBonus(
    entropy: Values,
    offsets: Int32Array,
    mask: Mask | null,
    ...aggregationAndGrad: [...AggregationArguments, gradEntropy: Values]
  ): number;
  importanceWeights(
    correction: number,
    level: number,
    parameters: Float64Array,
    oldLogProbs: Values,
    offsets: Int32Array,
    rolloutLogProbs: Values,
    mask: Mask | null,
    weights: Values,
    kept: Mask,
    slots: Slots,
  ): number;
}
