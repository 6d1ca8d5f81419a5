import type { GroupIds } from "../advantage/index.ts";
import type { FloatArray, Owned } from "../ragged.ts";
import { assertNumber, assertOneOf } from "../validate.ts";
import {
  type AggregateRule,
  BatchDivisor,
  GroupForm,
  KlForm,
  MaskUse,
  RatioLevel,
  RowDivisor,
  Singleton,
  TokenLoss,
} from "./kernels.ts";
import {
  groupScores,
  othersRatio,
  openBatch,
  type PaddedAdvantages,
  type PaddedBatch,
  type PaddedKl,
  type PaddedPolicyLoss,
  type PaddedValueLoss,
} from "./padded.ts";
import type { PaddedLogProbs, PaddedPolicyBatch } from "./pure-verl.ts";
import type { PaddedRewards, PaddedRewardsAndValues } from "./verl-advantage.ts";
import type { PaddedValuePredictions } from "./verl-loss.ts";

/** OpenRLHF's estimators that compare responses of one prompt. */
export type OpenRlhfGroupEstimator = "rloo" | "reinforce_baseline" | "group_norm" | "dr_grpo";

/** One reward per response of a padded batch. */
export interface PaddedResponseRewards<T extends FloatArray> extends PaddedBatch {
  /** `[rows]`. */
  readonly rewards: T;
  /** Prompt id of each response; the peer takes equal, consecutive groups. */
  readonly index: GroupIds;
}

/** Rewards and KL of a padded batch. */
export interface PaddedRewardAndKl<T extends FloatArray> extends PaddedBatch {
  /** `[rows]`. */
  readonly rewards: T;
  /** `[rows, width]`. */
  readonly kl: T;
}

/** Options of {@link OpenRlhfPreset.policyLoss}, under the names of the peer's command line. */
export interface OpenRlhfPolicyOptions {
  /** Default 0.2. */
  clipEpsLow?: number;
  /** Default 0.2. */
  clipEpsHigh?: number;
  /** Dual clip, > 1; none by default. */
  dualClip?: number;
  /** Mean over tokens (default) or mean over rows of the rows' means. GSPO always takes rows. */
  tokenLevelLoss?: boolean;
  /** `"gspo"` takes one unclamped ratio per response. Default `"ppo"`. */
  policyLossType?: "ppo" | "gspo";
}

/** OpenRLHF (github.com/OpenRLHF/OpenRLHF). Masks multiply, and divisors have no epsilon. */
export interface OpenRlhfPreset {
  /** `"k1"`, `"k2"`, `"k3"`, each clamped to +-10: no gradient beyond, NaN where exp overflows (d = -100). */
  computeApproxKl<T extends FloatArray>(
    batch: PaddedLogProbs<T>,
    options?: { klEstimator?: "k1" | "k2" | "k3" },
  ): PaddedKl<T>;
  /** `- klCoef kl` per token, plus the (clamped) reward at the last token of each response. */
  computeReward<T extends FloatArray>(
    batch: PaddedRewardAndKl<T>,
    options: { klCoef: number; rewardClipRange?: readonly [number, number] },
  ): Owned<T>;
  /**
   * Rewards relative to their group, per response: `"rloo"` minus the mean of the others (NaN alone), `"reinforce_baseline"`
   * and `"dr_grpo"` minus the mean, `"group_norm"` divided by std + 1e-9 too, so that the rounding residue of equal rewards
   * becomes an advantage: eight float32 rewards of 0.2 give -0.880.
   */
  processExperiences<T extends FloatArray>(
    batch: PaddedResponseRewards<T>,
    options: { advantageEstimator: OpenRlhfGroupEstimator },
  ): Owned<T>;
  /** GAE over values and rewards multiplied by the mask: a hole is a state of value 0. */
  getAdvantagesAndReturns<T extends FloatArray>(
    batch: PaddedRewardsAndValues<T>,
    options: { gamma: number; lambd: number },
  ): PaddedAdvantages<T>;
  /** Discounted suffix sum of the masked rewards. */
  getCumulativeReturns<T extends FloatArray>(batch: PaddedRewards<T>, options: { gamma: number }): Owned<T>;
  /** `(a - mean) / sqrt(max(variance, 1e-8))`, ddof 0, over the masked advantages; not masked afterwards. */
  normalizeAdvantages<T extends FloatArray>(batch: PaddedBatch & { readonly advantages: T }): Owned<T>;
  /** PPO clip, log-ratio clamped to +-20; or GSPO. */
  policyLoss<T extends FloatArray>(
    batch: PaddedPolicyBatch<T>,
    options?: OpenRlhfPolicyOptions,
  ): PaddedPolicyLoss<T>;
  /** Half the larger of the plain and the clipped squared error; without `clipEps` the plain one. */
  valueLoss<T extends FloatArray>(
    batch: PaddedValuePredictions<T>,
    options?: { clipEps?: number; tokenLevelLoss?: boolean },
  ): PaddedValueLoss<T>;
}

function aggregation(tokenLevelLoss: boolean): AggregateRule {
  return tokenLevelLoss
    ? { row: RowDivisor.none, batch: BatchDivisor.tokens, scale: 1 }
    : { row: RowDivisor.length, batch: BatchDivisor.countedRows, skipEmpty: true, scale: 1 };
}

/** @internal */
export const openRlhf: OpenRlhfPreset = {
  computeApproxKl(batch, { klEstimator = "k1" } = {}) {
    assertOneOf(klEstimator, "klEstimator", ["k1", "k2", "k3"]);
    const padded = openBatch(batch, "logProbs", batch?.logProbs);
    return padded.kl(batch.logProbs, padded.tokens(batch.refLogProbs, "refLogProbs"), {
      form: KlForm[klEstimator],
      inputClamp: Number.POSITIVE_INFINITY,
      outputClamp: 10,
    });
  },

  computeReward<T extends FloatArray>(
    batch: PaddedRewardAndKl<T>,
    { klCoef, rewardClipRange }: { klCoef: number; rewardClipRange?: readonly [number, number] },
  ) {
    assertNumber(klCoef, "klCoef");
    const padded = openBatch(batch, "kl", batch?.kl);
    const rewards = padded.perRow(batch.rewards, "rewards").slice() as T;
    if (rewardClipRange !== undefined) {
      const [low, high] = rewardClipRange;
      for (let i = 0; i < rewards.length; i++) rewards[i] = Math.min(high, Math.max(low, rewards[i]!));
    }
    const coefficients = padded.newRows().fill(Math.max(0, klCoef)) as Owned<T>;
    const penalties = padded.subtractRows(padded.newTokens(), coefficients, { weights: batch.kl });
    return padded.addAtLast(penalties, rewards);
  },

  processExperiences<T extends FloatArray>(
    batch: PaddedResponseRewards<T>,
    { advantageEstimator }: { advantageEstimator: OpenRlhfGroupEstimator },
  ) {
    assertOneOf(advantageEstimator, "advantageEstimator", [
      "rloo",
      "reinforce_baseline",
      "group_norm",
      "dr_grpo",
    ]);
    const padded = openBatch(batch, "rewards", batch?.rewards, true);
    const groups = padded.groups(batch.index);
    if (advantageEstimator === "rloo") {
      const baselines = othersRatio(groups, batch.rewards);
      return batch.rewards.map((reward, i) => reward - baselines[i]!) as unknown as Owned<T>;
    }
    return groupScores(groups, batch.rewards, {
      form: advantageEstimator === "group_norm" ? GroupForm.scale : GroupForm.centre,
      singleton: Singleton.same,
      epsilon: 1e-9,
    });
  },

  getAdvantagesAndReturns(batch, { gamma, lambd }) {
    assertNumber(gamma, "gamma", { low: 0, high: 1 });
    assertNumber(lambd, "lambd", { low: 0, high: 1 });
    const padded = openBatch(batch, "tokenLevelRewards", batch?.tokenLevelRewards);
    const values = padded.tokens(batch.values, "values");
    return padded.gae(batch.tokenLevelRewards, values, MaskUse.multiply, gamma, lambd);
  },

  getCumulativeReturns(batch, { gamma }) {
    assertNumber(gamma, "gamma", { low: 0, high: 1 });
    const padded = openBatch(batch, "tokenLevelRewards", batch?.tokenLevelRewards);
    return padded.returns(batch.tokenLevelRewards, { maskRewards: true, gamma });
  },

  normalizeAdvantages(batch) {
    const padded = openBatch(batch, "advantages", batch?.advantages);
    return padded.whiten(batch.advantages, { clampFloor: true, countEpsilon: 0, floor: 1e-8 });
  },

  policyLoss(batch, options = {}) {
    const {
      clipEpsLow = 0.2,
      clipEpsHigh = 0.2,
      dualClip,
      tokenLevelLoss = true,
      policyLossType = "ppo",
    } = options;
    assertOneOf(policyLossType, "policyLossType", ["ppo", "gspo"]);
    assertNumber(clipEpsLow, "clipEpsLow", { low: 0 });
    assertNumber(clipEpsHigh, "clipEpsHigh", { low: 0 });
    if (dualClip !== undefined) assertNumber(dualClip, "dualClip", { low: 1, open: true });
    const gspo = policyLossType === "gspo";
    const limit = gspo ? Number.POSITIVE_INFINITY : 20;
    const padded = openBatch(batch, "logProbs", batch?.logProbs);
    return padded.policyLoss(
      batch.logProbs,
      padded.tokens(batch.oldLogProbs, "oldLogProbs"),
      padded.tokens(batch.advantages, "advantages"),
      {
        loss: TokenLoss.clip,
        level: gspo ? RatioLevel.sequence : RatioLevel.token,
        logLow: -limit,
        logHigh: limit,
        low: 1 - clipEpsLow,
        high: 1 + clipEpsHigh,
        dualClip: dualClip ?? 0,
        delta: Number.POSITIVE_INFINITY,
        tauPositive: 1,
        tauNegative: 1,
        countEpsilon: 0,
      },
      aggregation(tokenLevelLoss && !gspo),
    );
  },

  valueLoss(batch, { clipEps, tokenLevelLoss = true } = {}) {
    if (clipEps !== undefined) assertNumber(clipEps, "clipEps", { low: 0 });
    const padded = openBatch(batch, "vpreds", batch?.vpreds);
    return padded.valueLoss(
      batch.vpreds,
      padded.tokens(batch.values, "values"),
      padded.tokens(batch.returns, "returns"),
      { clipRange: clipEps ?? -1, countEpsilon: 0 },
      aggregation(tokenLevelLoss),
    );
  },
};
