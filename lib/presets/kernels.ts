import type { FloatArray } from "../ragged.ts";

// The enumerators of native/include/minform/presets.h, in its order.

/** @internal */
export const MaskUse = { ignore: 0, multiply: 1, carry: 2 } as const;
/** @internal */
export const GroupForm = { centre: 0, scale: 1, leaveOneOut: 2, passK: 3 } as const;
/** @internal */
export const Singleton = { raw: 0, zero: 1, same: 2 } as const;
/** @internal */
export const TokenLoss = { clip: 0, softGate: 1, logProb: 2, clippedWeight: 3 } as const;
/** @internal */
export const RatioLevel = { token: 0, sequenceToken: 1, sequence: 2, sequenceSum: 3 } as const;
/** @internal */
export const RowDivisor = { none: 0, length: 1, lengthAtLeastOne: 2, lengthPlusEpsilon: 3 } as const;
/** @internal */
export const BatchDivisor = {
  tokens: 0,
  tokensAtLeastOne: 1,
  tokensPlusEpsilon: 2,
  countedRows: 3,
  rows: 4,
  one: 5,
} as const;
/** @internal */
export const KlForm = { k1: 0, abs: 1, k2: 2, k3: 3 } as const;

/** @internal Fields as in native/include/minform/presets.h; a flag left out is false. */
export interface ReturnRule {
  smallest?: boolean;
  maskRewards?: boolean;
  maskCarry?: boolean;
  maskResult?: boolean;
  gamma: number;
}

/** @internal */
export interface WhitenRule {
  select?: boolean;
  unbiased?: boolean;
  clampFloor?: boolean;
  maskResult?: boolean;
  countEpsilon: number;
  floor: number;
}

/** @internal */
export interface GroupRule {
  form: number;
  singleton: number;
  batchStd?: boolean;
  epsilon: number;
  factor: number;
}

/** @internal */
export interface PolicyRule {
  loss: number;
  level: number;
  logLow: number;
  logHigh: number;
  low: number;
  high: number;
  dualClip: number;
  delta: number;
  tauPositive: number;
  tauNegative: number;
  rowAdvantages?: boolean;
  countEpsilon: number;
}

/** @internal */
export interface AggregateRule {
  row: number;
  batch: number;
  select?: boolean;
  skipEmpty?: boolean;
  scale: number;
}

/** @internal */
export interface KlRule {
  form: number;
  gradientOfK2?: boolean;
  inputClamp: number;
  outputClamp: number;
}

/** @internal */
export interface ValueRule {
  clipRange: number;
  splitAtBounds?: boolean;
  countEpsilon: number;
}

/** @internal */
export interface PolicyStats {
  loss: number;
  clipFraction: number;
  clipFractionLower: number;
  kl: number;
}

/** @internal Kernels of bindings/presets.cc. Most take a mask and the padded width first. */
export interface PresetKernels {
  rowSums(mask: Uint8Array, width: number, values: FloatArray, masked: boolean, out: FloatArray): void;
  spread(mask: Uint8Array, width: number, rowValues: FloatArray, out: FloatArray): void;
  subtractRows(
    mask: Uint8Array,
    width: number,
    values: FloatArray,
    rowValues: FloatArray,
    weights: FloatArray | null,
    only: Uint8Array | null,
    keepElsewhere: boolean,
    out: FloatArray,
  ): void;
  addAtLast(mask: Uint8Array, width: number, rowValues: FloatArray, values: FloatArray): void;
  stepTokens(mask: Uint8Array, width: number, stepEnds: Uint8Array, out: FloatArray): void;
  returns(mask: Uint8Array, width: number, rewards: FloatArray, rule: ReturnRule, out: FloatArray): void;
  gae(
    mask: Uint8Array,
    width: number,
    rewards: FloatArray,
    values: FloatArray,
    use: number,
    gamma: number,
    lambda: number,
    advantages: FloatArray,
    returns: FloatArray,
  ): void;
  whiten(mask: Uint8Array, width: number, values: FloatArray, rule: WhitenRule, out: FloatArray): boolean;
  groupScores(group: Int32Array, groups: number, scores: FloatArray, rule: GroupRule, out: FloatArray): void;
  othersRatio(group: Int32Array, groups: number, a: FloatArray, b: FloatArray | null, out: FloatArray): void;
  weightedMeans(
    group: Int32Array,
    groups: number,
    scores: FloatArray,
    weights: FloatArray,
    out: FloatArray,
  ): void;
  policyLoss(
    mask: Uint8Array,
    width: number,
    logProbs: FloatArray,
    oldLogProbs: FloatArray,
    advantages: FloatArray,
    rule: PolicyRule,
    aggregate: AggregateRule,
    gradient: FloatArray,
  ): PolicyStats;
  geometricMeanLoss(
    mask: Uint8Array,
    width: number,
    logProbs: FloatArray,
    oldLogProbs: FloatArray,
    advantages: FloatArray,
    rule: PolicyRule,
    gradient: FloatArray,
  ): PolicyStats;
  aggregate(mask: Uint8Array, width: number, losses: FloatArray, rule: AggregateRule): number;
  kl(
    mask: Uint8Array,
    width: number,
    logProbs: FloatArray,
    refLogProbs: FloatArray,
    rule: KlRule,
    values: FloatArray,
    slopes: FloatArray,
  ): void;
  valueLoss(
    mask: Uint8Array,
    width: number,
    predicted: FloatArray,
    old: FloatArray,
    returns: FloatArray,
    rule: ValueRule,
    aggregate: AggregateRule,
    gradient: FloatArray,
  ): PolicyStats;
}
