import { launch } from "../cuda/launch.ts";
import { addon } from "../load.ts";
import type { FloatArray, Mask, Owned, Ragged, Values } from "../ragged.ts";
import { assertLike, assertRaggedValues, checkMask, outputLike } from "../placed-values.ts";
import { assertOneOf } from "../validate.ts";
import {
  aggregated,
  aggregationArguments,
  assertClamp,
  assertLossStatus,
  assertObject,
  meanOf,
  valuesOf,
  SLOT,
} from "./aggregation.ts";
import type { LossOptions, LossResult } from "./policy.ts";

/** What {@link klPenalty} reads, in one dtype. */
export interface KlBatch<T extends Values> {
  /** Log-probs of the sampled tokens under the policy that is trained; -Infinity is legal. */
  logProbs: Ragged<T>;
  /** Log-probs under the reference policy; -Infinity is legal. */
  refLogProbs: Ragged<T>;
  /** Log-probs under the policy that sampled, for `gradient: "importance"`. Default: `logProbs` (on-policy). */
  oldLogProbs?: Ragged<T>;
  /** One per token: 0 leaves the token out. */
  mask?: Mask;
}

/** Options of {@link klPenalty}. */
export interface KlPenaltyOptions<T extends Values = FloatArray> extends LossOptions<T> {
  /** Which estimate of KL(pi || ref) the value is. Default `"k3"`. */
  estimator?: "k1" | "k2" | "k3" | "abs";
  /** Whose gradient is returned. Default `"same"`. */
  gradient?: "same" | "k2" | "importance";
  /** Reused for `values`; one value per token. */
  valuesOut?: T;
}

/** Statistics of {@link klPenalty} over counted tokens, d = logProbs - refLogProbs; 0 for an empty batch. */
export interface KlStats {
  /** Counted tokens. */
  readonly tokens: number;
  /** Tokens with |d| above `logRatioClamp`. */
  readonly clampedTokens: number;
  /** Mean of the clamped d. */
  readonly k1: number;
  /** Mean of exp(-d) - 1 + d, d clamped. */
  readonly k3: number;
  /** Mean of the unclamped d; infinite, or NaN where both infinities occur, if d is. */
  readonly rawK1: number;
  /** Mean of exp(-d) - 1 + d, d unclamped. */
  readonly rawK3: number;
  /** Smallest unclamped d. */
  readonly minLogRatio: number;
  /** Largest unclamped d. */
  readonly maxLogRatio: number;
}

/** Result of {@link klPenalty}. */
export interface KlPenalty<T extends Values> extends LossResult<T, KlStats> {
  /** The estimate of each token (times rho for `"importance"`), not divided; +0 where the mask is 0. */
  readonly values: Ragged<Owned<T>>;
}

const ESTIMATORS = ["k1", "k2", "k3", "abs"] as const;
const GRADIENTS = ["same", "k2", "importance"] as const;
const TALLY = { k1: 6, k3: 7, rawK1: 8, rawK3: 9, clamped: 10 } as const;

/**
 * KL penalty towards a reference policy. Value per token, d = logProbs - refLogProbs clamped to +- `logRatioClamp`:
 *
 * | estimator | value v | `"same"` gradient v' |
 * |---|---|---|
 * | `k1` | d | 1 |
 * | `k2` | d^2 / 2 | d |
 * | `k3` | exp(-d) - 1 + d | 1 - exp(-d) |
 * | `abs` | \|d\| | sign d, 0 at d = 0 |
 *
 * Gradient with respect to a log-prob: `"same"`: v'. In expectation it is 0 for k1, and for k3 that of the *forward*
 * KL. `"k2"`: d whatever the value (straight-through), on-policy the gradient of the reverse KL. `"importance"`: value
 * rho v and gradient rho (v + v'), with rho = exp(logProbs - oldLogProbs); for k3 that is rho d, the gradient of the
 * reverse KL also off-policy. On-policy (without `oldLogProbs`) rho = 1.
 *
 * A clamped token saturates: its value and its gradient are those at the clamp, so the gradient keeps its sign and is
 * finite at d = -Infinity. k3 is computed in expm1 form (at d = 1e-4 it has all its digits).
 *
 * float32: each token within 2e-6 (1 + |d|) of float64, relative; sums accumulate in float64.
 *
 * Source: Schulman, "Approximating KL divergence", 2020; the gradients: arXiv 2506.09477.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` for a counted token with a NaN log-prob or (-Infinity) - (-Infinity) as log-ratio
 */
export function klPenalty<T extends Values>(
  batch: KlBatch<T>,
  options: KlPenaltyOptions<T> = {},
): KlPenalty<T> {
  assertObject(batch, "batch");
  const { logProbs, refLogProbs, oldLogProbs, mask } = batch;
  const { estimator = "k3", gradient = "same", logRatioClamp = 20, out, valuesOut } = options;
  assertOneOf(estimator, "estimator", ESTIMATORS);
  assertOneOf(gradient, "gradient", GRADIENTS);
  assertClamp(logRatioClamp);
  assertRaggedValues(logProbs, "logProbs");
  assertLike(refLogProbs, "refLogProbs", logProbs, "logProbs");
  if (oldLogProbs !== undefined) assertLike(oldLogProbs, "oldLogProbs", logProbs, "logProbs");
  const { data, offsets } = logProbs;
  const how = aggregationArguments(options, offsets.length - 1, data);
  const values = outputLike(valuesOut, data, data.length, "valuesOut", "logProbs.data");
  const grad = outputLike(out, data, data.length, "out", "logProbs.data");
  const status = launch(
    "klPenalty",
    addon().loss.klPenalty,
    ESTIMATORS.indexOf(estimator),
    GRADIENTS.indexOf(gradient),
    logRatioClamp,
    data,
    offsets,
    refLogProbs.data,
    oldLogProbs?.data ?? null,
    checkMask(mask, "mask", data.length, data),
    ...how,
    values,
    grad,
  );
  const suspects = { logProbs: data, refLogProbs: refLogProbs.data, oldLogProbs: oldLogProbs?.data };
  assertLossStatus(status, offsets, { logProbs: suspects }, options.promptTokens);
  return {
    ...valuesOf<T, typeof aggregated & { stats: typeof klStats }>(how[4], { ...aggregated, stats: klStats }),
    values: { data: values, offsets },
    gradLogProbs: { data: grad, offsets },
  };
}

function klStats(slots: Float64Array): KlStats {
  const tokens = slots[SLOT.tokens]!;
  const [k1, k3] = [slots[TALLY.k1]!, slots[TALLY.k3]!];
  return {
    tokens,
    clampedTokens: slots[TALLY.clamped]!,
    k1: meanOf(k1, tokens),
    k3: meanOf(k3, tokens),
    rawK1: meanOf(k1 + slots[TALLY.rawK1]!, tokens),
    rawK3: meanOf(k3 + slots[TALLY.rawK3]!, tokens),
    minLogRatio: tokens === 0 ? 0 : slots[SLOT.lowest]!,
    maxLogRatio: tokens === 0 ? 0 : slots[SLOT.highest]!,
  };
}
