import { ArgumentError } from "../errors.ts";
import { launch } from "../cuda/launch.ts";
import type { PlacedValue } from "../cuda/value.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import { addon } from "../load.ts";
import type { FloatArray, Mask, Owned, Ragged, Values } from "../ragged.ts";
import { assertLike, assertRaggedValues, checkMask, outputLike } from "../placed-values.ts";
import { assertNumber, assertOneOf } from "../validate.ts";
import {
  assertClamp,
  assertLossStatus,
  assertObject,
  meanOf,
  newSlots,
  SLOT,
  valuesOf,
} from "./aggregation.ts";

/** What {@link importanceWeights} reads, in one dtype. */
export interface ImportanceBatch<T extends Values> {
  /** Log-probs under the policy that is trained, before the update; -Infinity is legal. */
  oldLogProbs: Ragged<T>;
  /** Log-probs under the policy that sampled (the inference engine's); -Infinity is legal. */
  rolloutLogProbs: Ragged<T>;
  /** One per token: 0 leaves the token out. */
  mask?: Mask;
}

/** Options of {@link importanceWeights}. */
export interface ImportanceOptions<T extends Values = FloatArray> {
  /** `"truncate"` limits weights to `[min, max]` (TIS); `"mask"` zeroes those outside, bounds inclusive (MIS, IcePop). */
  correction: "truncate" | "mask";
  /** `"token"`: exp(d_t); `"sequence-sum"`: exp(sum_t d_t), the true ratio; `"sequence-mean"`: exp(mean_t d_t), the geometric mean. */
  level: "token" | "sequence-sum" | "sequence-mean";
  /** Lower bound of the weight itself (not of its inverse), >= 0. Default 0. */
  min?: number;
  /** Upper bound of the weight, > 0. */
  max: number;
  /**
   * `true`: divide by the mean of the corrected weights over the counted tokens of this call; a number > 0: divide by
   * that (the mean over the whole batch, when this call is a part of it). Default `false`.
   */
  normalize?: boolean | number;
  /** Log-weights are clamped to +- this before exp, in (0, 80]. Default 20. */
  logRatioClamp?: number;
  /** Reused for the weights; one value per token. */
  out?: T;
}

/**
 * Diagnostics of {@link importanceWeights}; 0 for an empty batch. A unit is a counted token at level `"token"`, else a
 * response with a counted token. Unless it says otherwise, a number is about the weights before correction and
 * normalisation, after the clamp.
 */
export interface ImportanceStats {
  /** Counted tokens. */
  readonly tokens: number;
  /** Tokens, or responses with a counted token. */
  readonly units: number;
  /** Units whose log-weight is above `logRatioClamp` in size. */
  readonly clampedUnits: number;
  /** Share of units outside `[min, max]`. */
  readonly outsideFraction: number;
  /** Mean weight per unit. */
  readonly meanWeight: number;
  /** Mean over counted tokens of the corrected weight: what `normalize: true` divides by. */
  readonly meanCorrectedWeight: number;
  /** (sum w)^2 / sum w^2, in units. */
  readonly effectiveSampleSize: number;
  /** The same for the corrected weights. */
  readonly correctedEffectiveSampleSize: number;
  /** mean(w^2) - 1 over units: estimate of the chi-square divergence of the trained policy from the sampler. */
  readonly chi2: number;
  /** k1 estimate of KL(rollout || old) per token: mean of -d_t, d_t clamped. */
  readonly k1: number;
  /** k3 estimate of the same: mean of exp(d_t) - 1 - d_t, d_t clamped. */
  readonly k3: number;
  /** Smallest unclamped d_t. */
  readonly minLogRatio: number;
  /** Largest unclamped d_t. */
  readonly maxLogRatio: number;
}

/** Result of {@link importanceWeights}. */
export interface ImportanceWeights<T extends Values> {
  /** One per token, the same for all tokens of a response at the sequence levels; +0 where masked or rejected. */
  readonly weights: Ragged<Owned<T>>;
  /**
   * One per token: 1 where it counts and was not rejected. As the `mask` of a loss it drops rejected tokens from the
   * denominator too; with the weights alone they stay in it.
   */
  readonly kept: T extends DeviceTensor ? DeviceTensor<"uint8"> : Uint8Array<ArrayBuffer>;
  /** Diagnostics of the mismatch. */
  readonly stats: PlacedValue<T, ImportanceStats>;
}

const CORRECTIONS = ["truncate", "mask"] as const;
const LEVELS = ["token", "sequence-sum", "sequence-mean"] as const;
// As WeightTally in native/include/minform/loss.h.
const TALLY = {
  units: 6,
  raw: 7,
  rawSquared: 8,
  corrected: 9,
  correctedSquared: 10,
  outside: 11,
  clamped: 12,
  overTokens: 13,
  k1: 14,
  k3: 15,
} as const;

/**
 * Importance weights for rollouts that another policy sampled (another engine, another precision, an older version):
 * `w = exp(d)`, d = oldLogProbs - rolloutLogProbs per token, per response summed, or per response averaged. Pass the
 * weights as `importanceWeights` of a loss: they are constants there.
 *
 * To reject whole responses by their mean and weight the tokens of the others, call twice: the first with
 * `correction: "mask", level: "sequence-mean"`, the second at level `"token"` with the first one's `kept` as its mask.
 *
 * Infinite d count as +-1e30 in sums over a response. float32: weights at level `"token"` within 1e-6 (1 + |d|) of
 * float64, relative; at the sequence levels they are computed in float64 and rounded once.
 *
 * Sources: truncation Ionides 2008; rollout correction: arXiv 2510.18855 (IcePop).
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` for a counted token with a NaN log-prob or (-Infinity) - (-Infinity) as log-ratio
 */
export function importanceWeights<T extends Values>(
  batch: ImportanceBatch<T>,
  options: ImportanceOptions<T>,
): ImportanceWeights<T> {
  assertObject(batch, "batch");
  assertObject(options, "options");
  const { oldLogProbs, rolloutLogProbs, mask } = batch;
  const { correction, level, min = 0, max, normalize = false, logRatioClamp = 20, out } = options;
  assertOneOf(correction, "correction", CORRECTIONS);
  assertOneOf(level, "level", LEVELS);
  assertNumber(max, "max", { low: 0, open: true });
  assertNumber(min, "min", { low: 0 });
  if (min > max) throw new ArgumentError("ERR_ARGUMENT_VALUE", `min: expected at most ${max}, got ${min}`);
  if (typeof normalize !== "boolean") assertNumber(normalize, "normalize", { low: 0, open: true });
  assertClamp(logRatioClamp);
  assertRaggedValues(oldLogProbs, "oldLogProbs");
  assertLike(rolloutLogProbs, "rolloutLogProbs", oldLogProbs, "oldLogProbs");
  const { data, offsets } = oldLogProbs;
  const weights = outputLike(out, data, data.length, "out", "oldLogProbs.data");
  const kept =
    data instanceof DeviceTensor ? data.stream.allocate("uint8", [data.length]) : new Uint8Array(data.length);
  const slots = newSlots(data);
  const divisor = normalize === true ? 0 : normalize === false ? 1 : normalize;
  const status = launch(
    "importanceWeights",
    addon().loss.importanceWeights,
    CORRECTIONS.indexOf(correction),
    LEVELS.indexOf(level),
    Float64Array.of(min, max, logRatioClamp, divisor),
    data,
    offsets,
    rolloutLogProbs.data,
    checkMask(mask, "mask", data.length, data),
    weights,
    kept,
    slots,
  );
  const suspects = { oldLogProbs: data, rolloutLogProbs: rolloutLogProbs.data };
  assertLossStatus(status, offsets, { logProbs: suspects });
  return {
    weights: { data: weights, offsets },
    kept: kept as ImportanceWeights<T>["kept"],
    ...valuesOf<T, { stats: typeof importanceStats }>(slots, { stats: importanceStats }),
  };
}

function importanceStats(slots: Float64Array): ImportanceStats {
  const [tokens, units] = [slots[SLOT.tokens]!, slots[TALLY.units]!];
  const perUnit = (slot: number) => meanOf(slots[slot]!, units);
  const perToken = (slot: number) => meanOf(slots[slot]!, tokens);
  return {
    tokens,
    units,
    clampedUnits: slots[TALLY.clamped]!,
    outsideFraction: perUnit(TALLY.outside),
    meanWeight: perUnit(TALLY.raw),
    meanCorrectedWeight: perToken(TALLY.overTokens),
    effectiveSampleSize: meanOf(slots[TALLY.raw]! ** 2, slots[TALLY.rawSquared]!),
    correctedEffectiveSampleSize: meanOf(slots[TALLY.corrected]! ** 2, slots[TALLY.correctedSquared]!),
    chi2: units === 0 ? 0 : perUnit(TALLY.rawSquared) - 1,
    k1: perToken(TALLY.k1),
    k3: perToken(TALLY.k3),
    minLogRatio: tokens === 0 ? 0 : slots[SLOT.lowest]!,
    maxLogRatio: tokens === 0 ? 0 : slots[SLOT.highest]!,
  };
}
