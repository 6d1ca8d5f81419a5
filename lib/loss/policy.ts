import { launch } from "../cuda/launch.ts";
import type { PlacedValue } from "../cuda/value.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import { addon } from "../load.ts";
import type { FloatArray, Mask, Owned, Ragged, Values } from "../ragged.ts";
import { assertLike, assertRaggedValues, assertVectorLike, checkMask, outputLike } from "../placed-values.ts";
import {
  type AggregatedLoss,
  type Aggregation,
  type AggregationOptions,
  aggregated,
  aggregationArguments,
  assertClamp,
  assertLossStatus,
  assertObject,
  meanOf,
  valuesOf,
  SLOT,
} from "./aggregation.ts";

/** What the policy losses read, in one dtype: one row per response, one element per token, no padding. */
export interface PolicyBatch<T extends Values> {
  /** Log-probs of the sampled tokens under the policy that is trained, in nats; -Infinity is legal. */
  logProbs: Ragged<T>;
  /** Log-probs under the policy that the ratio is taken against (the one before the update); -Infinity is legal. */
  oldLogProbs: Ragged<T>;
  /** One advantage per token, or one per response. Finite. */
  advantages: Ragged<T> | T;
  /** One per token: 0 leaves the token out; whatever it holds is not used, and its gradient is +0. */
  mask?: Mask;
  /** Constants that multiply each token's loss and gradient, e.g. from {@link importanceWeights}. Finite. */
  importanceWeights?: Ragged<T>;
}

/** {@link PolicyBatch} of a loss without a ratio. */
export type ScoreBatch<T extends Values> = Omit<PolicyBatch<T>, "oldLogProbs">;

/** Options that every policy loss takes. */
export interface LossOptions<T extends Values = FloatArray> extends AggregationOptions {
  /** Log-ratios are clamped to +- this before exp, in (0, 80]. Default 20. */
  logRatioClamp?: number;
  /** Reused for the gradient; one value per token. */
  out?: T;
}

/** Value and gradient of a loss with respect to log-probs. */
export interface LossResult<T extends Values, Stats> extends AggregatedLoss<T> {
  /** d `loss` / d `logProbs`, divided by the denominator like `loss`. Exactly +0 where the mask is 0. */
  readonly gradLogProbs: Ragged<Owned<T>>;
  /** Statistics over the counted tokens, unweighted: they do not depend on aggregation, denominator or weights. */
  readonly stats: PlacedValue<T, Stats>;
}

/**
 * Statistics of the losses with a ratio, over counted tokens; 0 for an empty batch. With d = logProbs - oldLogProbs and
 * rho = exp(d): plain names are computed after the clamp of d, `raw...` before it (then possibly infinite, or NaN where
 * +Infinity and -Infinity meet).
 */
export interface PolicyStats {
  /** Counted tokens. */
  readonly tokens: number;
  /** Tokens with |d| above `logRatioClamp` (and, for CISPO, tokens whose log-prob is beyond +-1e4). */
  readonly clampedTokens: number;
  /** Share of tokens whose loss is the clipped term, strictly; those have no gradient (CISPO: weight at a bound). */
  readonly clipFraction: number;
  /** Share of tokens cut by `dualClip` or `maxRatio`; 0 for losses without them. */
  readonly clipFractionLower: number;
  /** Mean of rho. */
  readonly meanRatio: number;
  /** Smallest rho. */
  readonly minRatio: number;
  /** Largest rho. */
  readonly maxRatio: number;
  /** k1 estimate of KL(old || new): mean of -d. */
  readonly approxKl: number;
  /** k3 estimate of KL(old || new): mean of rho - 1 - d, >= 0. */
  readonly approxKlK3: number;
  /** (sum rho)^2 / sum rho^2, in tokens. */
  readonly effectiveSampleSize: number;
  /** Mean of the unclamped rho. */
  readonly rawMeanRatio: number;
  /** Smallest unclamped d. */
  readonly minLogRatio: number;
  /** Largest unclamped d. */
  readonly maxLogRatio: number;
  /** Mean of the unclamped -d. */
  readonly rawApproxKl: number;
  /** Mean of the unclamped rho - 1 - d. */
  readonly rawApproxKlK3: number;
}

// As PolicyLoss and PolicyTally in native/include/minform/loss.h.
const LOSSES = ["ppo", "gspo", "gmpo", "cispo", "sapo", "reinforce"] as const;
const TALLY = {
  logRatio: 6,
  ratio: 7,
  ratioSquared: 8,
  k3: 9,
  rawLogRatio: 10,
  rawRatio: 11,
  rawK3: 12,
  clipped: 13,
  clippedLower: 14,
  clamped: 15,
} as const;

/** @internal What the objectives are made from; which loss reads what is in native/include/minform/loss.h. */
export interface PolicyParameters {
  low?: number;
  high?: number;
  dualClip?: number;
  maxRatio?: number;
  tauPositive?: number;
  tauNegative?: number;
}

/** @internal Validates, runs the kernel, and reads the slots with `statsOf`. */
export function runPolicy<T extends Values, Stats>(
  loss: (typeof LOSSES)[number],
  batch: ScoreBatch<T> & { oldLogProbs?: Ragged<T> },
  parameters: PolicyParameters,
  options: LossOptions<T>,
  aggregation: Aggregation,
  statsOf: (slots: Float64Array) => Stats,
): LossResult<T, Stats> {
  assertObject(batch, "batch");
  const { logProbs, oldLogProbs, advantages, mask, importanceWeights } = batch;
  const { logRatioClamp = 20, out } = options;
  const { low = 0, high = 0, dualClip = Infinity, maxRatio = Infinity } = parameters;
  const { tauPositive = 1, tauNegative = 1 } = parameters;
  assertClamp(logRatioClamp);
  assertRaggedValues(logProbs, "logProbs");
  const { data, offsets } = logProbs;
  const rows = offsets.length - 1;
  const old = loss === "reinforce" ? undefined : oldLogProbs;
  if (loss !== "reinforce") assertLike(old!, "oldLogProbs", logProbs, "logProbs");
  const perRow = ArrayBuffer.isView(advantages) || advantages instanceof DeviceTensor;
  if (perRow) assertVectorLike(advantages, "advantages", rows, data, "logProbs.data");
  else assertLike(advantages as Ragged<T>, "advantages", logProbs, "logProbs");
  const advantageData = perRow ? (advantages as T) : (advantages as Ragged<T>).data;
  if (importanceWeights !== undefined)
    assertLike(importanceWeights, "importanceWeights", logProbs, "logProbs");
  const how = aggregationArguments(options, rows, data, aggregation);
  const gradient = outputLike(out, data, data.length, "out", "logProbs.data");
  const status = launch(
    `${loss}Loss`,
    addon().loss.policyLoss,
    LOSSES.indexOf(loss),
    Float64Array.of(low, high, dualClip, maxRatio, tauPositive, tauNegative, logRatioClamp),
    data,
    offsets,
    old?.data ?? null,
    advantageData,
    importanceWeights?.data ?? null,
    checkMask(mask, "mask", data.length, data),
    ...how,
    gradient,
    perRow,
  );
  const suspects = {
    logProbs: { logProbs: data, oldLogProbs: old?.data },
    tokens: {
      ...(perRow ? {} : { advantages: advantageData }),
      importanceWeights: importanceWeights?.data,
    },
    ...(perRow ? { responses: { advantages: advantageData } } : {}),
  };
  assertLossStatus(status, offsets, suspects, options.promptTokens);
  return {
    ...valuesOf<T, typeof aggregated & { stats: typeof statsOf }>(how[4], { ...aggregated, stats: statsOf }),
    gradLogProbs: { data: gradient, offsets },
  };
}

/** @internal A loss with a ratio: {@link runPolicy} and its statistics. */
export function ratioLoss<T extends Values>(
  loss: (typeof LOSSES)[number],
  batch: PolicyBatch<T>,
  parameters: PolicyParameters,
  options: LossOptions<T>,
  aggregation: Aggregation = "token-mean",
): LossResult<T, PolicyStats> {
  const clamp = options.logRatioClamp ?? 20;
  return runPolicy(loss, batch, parameters, options, aggregation, (slots) => policyStats(slots, clamp));
}

function policyStats(slots: Float64Array, clamp: number): PolicyStats {
  const tokens = slots[SLOT.tokens]!;
  const mean = (...at: number[]) =>
    meanOf(
      at.reduce((sum, slot) => sum + slots[slot]!, 0),
      tokens,
    );
  const extreme = (value: number) => (tokens === 0 ? 0 : Math.exp(Math.min(clamp, Math.max(-clamp, value))));
  const [maxLogRatio, minLogRatio] = [slots[SLOT.highest]!, slots[SLOT.lowest]!];
  return {
    tokens,
    clampedTokens: slots[TALLY.clamped]!,
    clipFraction: mean(TALLY.clipped),
    clipFractionLower: mean(TALLY.clippedLower),
    meanRatio: mean(TALLY.ratio),
    minRatio: extreme(minLogRatio),
    maxRatio: extreme(maxLogRatio),
    approxKl: 0 - mean(TALLY.logRatio),
    approxKlK3: mean(TALLY.k3),
    effectiveSampleSize: meanOf(slots[TALLY.ratio]! ** 2, slots[TALLY.ratioSquared]!),
    rawMeanRatio: mean(TALLY.ratio, TALLY.rawRatio),
    minLogRatio: tokens === 0 ? 0 : minLogRatio,
    maxLogRatio: tokens === 0 ? 0 : maxLogRatio,
    rawApproxKl: 0 - mean(TALLY.logRatio, TALLY.rawLogRatio),
    rawApproxKlK3: mean(TALLY.k3, TALLY.rawK3),
  };
}

/** @internal SLOT-like places of the tallies, for losses with statistics of their own. */
export const POLICY_TALLY = TALLY;
