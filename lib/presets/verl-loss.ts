import type { FloatArray } from "../ragged.ts";
import { assertNumber, assertOneOf } from "../validate.ts";
import {
  type AggregateRule,
  BatchDivisor,
  KlForm,
  type PolicyRule,
  RatioLevel,
  RowDivisor,
  TokenLoss,
} from "./kernels.ts";
import {
  openBatch,
  type PaddedBatch,
  type PaddedKl,
  type PaddedPolicyLoss,
  type PaddedValueLoss,
} from "./padded.ts";
import type { PaddedLogProbs, PaddedPolicyBatch } from "./pure-verl.ts";

/** verl's aggregation modes; `"seq-mean-token-sum-norm"` divides the sum of all tokens by the padded width only. */
export type VerlAggregation =
  | "token-mean"
  | "seq-mean-token-sum"
  | "seq-mean-token-mean"
  | "seq-mean-token-sum-norm";

/** Names under which verl registers its policy losses. */
export type VerlPolicyLoss = "vanilla" | "gspo" | "sapo" | "gpg" | "geo_mean" | "cispo";

/** Options of verl's policy losses, under the names of its actor configuration. */
export interface VerlPolicyOptions {
  /** Default `"token-mean"`. GSPO and SAPO always use `"seq-mean-token-mean"`, GMPO the mean over rows. */
  lossAggMode?: VerlAggregation;
  /** Used on the side that has no bound of its own. Default 0.2. */
  clipRatio?: number;
  /** The ratio (GMPO: the log-ratio) is clipped at 1 - this (GMPO: - this). */
  clipRatioLow?: number;
  /** The ratio (GMPO: the log-ratio) is clipped at 1 + this (GMPO: this). */
  clipRatioHigh?: number;
  /** Dual clip of the vanilla loss, > 1; it cannot be switched off. Default 3. */
  clipRatioC?: number;
  /** SAPO's temperature for A > 0, default 1. */
  tauPos?: number;
  /** SAPO's temperature for A <= 0, default 1.05. */
  tauNeg?: number;
}

/** A policy loss of verl. */
export type VerlPolicyLossFn = <T extends FloatArray>(
  batch: PaddedPolicyBatch<T>,
  options?: VerlPolicyOptions,
) => PaddedPolicyLoss<T>;

/** Losses to aggregate. */
export interface PaddedLosses<T extends FloatArray> extends PaddedBatch {
  /** `[rows, width]`. */
  readonly lossMat: T;
}

/** Value predictions of a padded batch. */
export interface PaddedValuePredictions<T extends FloatArray> extends PaddedBatch {
  /** `[rows, width]` values being trained. */
  readonly vpreds: T;
  /** `[rows, width]` values before the update. */
  readonly values: T;
  /** `[rows, width]` targets. */
  readonly returns: T;
}

/**
 * Losses of verl. The log-ratio is clamped to +-20 (vanilla, SAPO, CISPO), GSPO's to at most 10, GMPO's not at all.
 * Where a max or min of two equal terms decides, each passes half the gradient.
 */
export interface VerlLosses {
  /** PPO clip with dual clip: at a ratio of exactly `clipRatioC` half the gradient passes. */
  computePolicyLossVanilla: VerlPolicyLossFn;
  /** Token form of GSPO. */
  computePolicyLossGspo: VerlPolicyLossFn;
  /** Soft gate instead of a clip. */
  computePolicyLossSapo: VerlPolicyLossFn;
  /** `-A log pi`; it has no statistics, those returned are those of an unclipped loss. */
  computePolicyLossGpg: VerlPolicyLossFn;
  /** GMPO: fully masked rows count in the mean. */
  computePolicyLossGeoMean: VerlPolicyLossFn;
  /** CISPO with bounds [1 - low, 1 + high]. */
  computePolicyLossCispo: VerlPolicyLossFn;
  /** The loss registered under a name. */
  getPolicyLossFn(name: VerlPolicyLoss): VerlPolicyLossFn;
  /** Aggregates token losses. Modes other than `"token-mean"` multiply by the mask; rows without a token are left out of means over rows. */
  aggLoss<T extends FloatArray>(batch: PaddedLosses<T>, options: { lossAggMode: VerlAggregation }): number;
  /**
   * KL per token: `"k1"` (`"kl"`), `"k2"` (`"mse"`), `"k3"` (`"low_var_kl"`), `"abs"`. k3 clamps d to +-20 and its value
   * to +-10; beyond either the gradient is 0. A trailing `+` keeps the value and takes the gradient of k2.
   */
  klPenalty<T extends FloatArray>(batch: PaddedLogProbs<T>, options: { klPenalty: string }): PaddedKl<T>;
  /** Half the larger of the plain and the clipped squared error. */
  computeValueLoss<T extends FloatArray>(
    batch: PaddedValuePredictions<T>,
    options: { cliprangeValue: number; lossAggMode?: VerlAggregation },
  ): PaddedValueLoss<T>;
}

const AGGREGATIONS: Record<VerlAggregation, (width: number) => AggregateRule> = {
  "token-mean": () => ({ row: RowDivisor.none, batch: BatchDivisor.tokens, select: true, scale: 1 }),
  "seq-mean-token-sum": () => ({
    row: RowDivisor.none,
    batch: BatchDivisor.countedRows,
    skipEmpty: true,
    scale: 1,
  }),
  "seq-mean-token-mean": () => ({
    row: RowDivisor.lengthPlusEpsilon,
    batch: BatchDivisor.countedRows,
    skipEmpty: true,
    scale: 1,
  }),
  "seq-mean-token-sum-norm": (width) => ({ row: RowDivisor.none, batch: BatchDivisor.one, scale: width }),
};

function aggregation(mode: VerlAggregation, width: number): AggregateRule {
  assertOneOf(mode, "lossAggMode", Object.keys(AGGREGATIONS) as VerlAggregation[]);
  return AGGREGATIONS[mode](width);
}

function policyLoss(
  fixed: Partial<PolicyRule> & { loss: number },
  forcedMode?: VerlAggregation,
): VerlPolicyLossFn {
  return (batch, options = {}) => {
    const { lossAggMode = "token-mean" } = options;
    const padded = openBatch(batch, "logProbs", batch?.logProbs);
    return padded.policyLoss(
      batch.logProbs,
      padded.tokens(batch.oldLogProbs, "oldLogProbs"),
      padded.tokens(batch.advantages, "advantages"),
      { ...policyRule(options, 1), ...fixed },
      aggregation(forcedMode ?? lossAggMode, padded.width),
    );
  };
}

function policyRule(options: VerlPolicyOptions, centre: number): PolicyRule {
  const { clipRatio = 0.2, clipRatioC = 3, tauPos = 1, tauNeg = 1.05 } = options;
  const { clipRatioLow = clipRatio, clipRatioHigh = clipRatio } = options;
  assertNumber(clipRatioLow, "clipRatioLow", { low: 0 });
  assertNumber(clipRatioHigh, "clipRatioHigh", { low: 0 });
  assertNumber(clipRatioC, "clipRatioC", { low: 1, open: true });
  assertNumber(tauPos, "tauPos", { low: 0, open: true });
  assertNumber(tauNeg, "tauNeg", { low: 0, open: true });
  return {
    loss: TokenLoss.clip,
    level: RatioLevel.token,
    logLow: -20,
    logHigh: 20,
    low: centre - clipRatioLow,
    high: centre + clipRatioHigh,
    dualClip: clipRatioC,
    delta: Number.POSITIVE_INFINITY,
    tauPositive: tauPos,
    tauNegative: tauNeg,
    countEpsilon: 1e-8,
  };
}

const policyLosses: Record<VerlPolicyLoss, VerlPolicyLossFn> = {
  vanilla: policyLoss({ loss: TokenLoss.clip }),
  gspo: policyLoss(
    {
      loss: TokenLoss.clip,
      level: RatioLevel.sequenceToken,
      logLow: Number.NEGATIVE_INFINITY,
      logHigh: 10,
      dualClip: 0,
    },
    "seq-mean-token-mean",
  ),
  sapo: policyLoss({ loss: TokenLoss.softGate }, "seq-mean-token-mean"),
  gpg: policyLoss({ loss: TokenLoss.logProb }),
  geo_mean: (batch, options = {}) => {
    const padded = openBatch(batch, "logProbs", batch?.logProbs);
    return padded.geometricMeanLoss(
      batch.logProbs,
      padded.tokens(batch.oldLogProbs, "oldLogProbs"),
      padded.tokens(batch.advantages, "advantages"),
      policyRule(options, 0),
    );
  },
  cispo: policyLoss({ loss: TokenLoss.clippedWeight }),
};

const KL_FORMS: Record<string, number> = {
  k1: KlForm.k1,
  kl: KlForm.k1,
  abs: KlForm.abs,
  k2: KlForm.k2,
  mse: KlForm.k2,
  k3: KlForm.k3,
  low_var_kl: KlForm.k3,
};

/** @internal */
export const verlLosses: VerlLosses = {
  computePolicyLossVanilla: policyLosses.vanilla,
  computePolicyLossGspo: policyLosses.gspo,
  computePolicyLossSapo: policyLosses.sapo,
  computePolicyLossGpg: policyLosses.gpg,
  computePolicyLossGeoMean: policyLosses.geo_mean,
  computePolicyLossCispo: policyLosses.cispo,

  getPolicyLossFn(name) {
    assertOneOf(name, "name", Object.keys(policyLosses) as VerlPolicyLoss[]);
    return policyLosses[name];
  },

  aggLoss(batch, { lossAggMode }) {
    const padded = openBatch(batch, "lossMat", batch?.lossMat);
    return padded.aggregate(batch.lossMat, aggregation(lossAggMode, padded.width));
  },

  klPenalty(batch, { klPenalty }) {
    const name = String(klPenalty);
    const base = name.endsWith("+") ? name.slice(0, -1) : name;
    assertOneOf(base, "klPenalty", Object.keys(KL_FORMS));
    const padded = openBatch(batch, "logProbs", batch?.logProbs);
    const form = KL_FORMS[base]!;
    return padded.kl(batch.logProbs, padded.tokens(batch.refLogProbs, "refLogProbs"), {
      form,
      gradientOfK2: name.endsWith("+"),
      inputClamp: 20,
      outputClamp: form === KlForm.k3 ? 10 : Number.POSITIVE_INFINITY,
    });
  },

  computeValueLoss(batch, { cliprangeValue, lossAggMode = "token-mean" }) {
    assertNumber(cliprangeValue, "cliprangeValue", { low: 0 });
    const padded = openBatch(batch, "vpreds", batch?.vpreds);
    return padded.valueLoss(
      batch.vpreds,
      padded.tokens(batch.values, "values"),
      padded.tokens(batch.returns, "returns"),
      { clipRange: cliprangeValue, splitAtBounds: true, countEpsilon: 1e-8 },
      aggregation(lossAggMode, padded.width),
    );
  },
};
