import { ArgumentError } from "../errors.ts";
import type { FloatArray, Owned } from "../ragged.ts";
import { assertNumber } from "../validate.ts";
import { GroupForm, MaskUse, Singleton, type WhitenRule } from "./kernels.ts";
import { groupScores, openBatch, type PaddedAdvantages, type PaddedBatch, weightedMeans } from "./padded.ts";
import type { PaddedOutcomes } from "./pure-verl.ts";

/** Token rewards of a padded batch. */
export interface PaddedRewards<T extends FloatArray> extends PaddedBatch {
  /** `[rows, width]` rewards. */
  readonly tokenLevelRewards: T;
}

/** Input of {@link VerlAdvantages.computeGaeAdvantageReturn}. */
export interface PaddedRewardsAndValues<T extends FloatArray> extends PaddedRewards<T> {
  /** `[rows, width]` state values. */
  readonly values: T;
}

/** Input of {@link VerlAdvantages.computeRemaxOutcomeAdvantage}. */
export interface PaddedRemax<T extends FloatArray> extends PaddedRewards<T> {
  /** `[rows]` reward of the greedy response. */
  readonly rewardBaselines: T;
}

/** Values to whiten. */
export interface PaddedValues<T extends FloatArray> extends PaddedBatch {
  /** `[rows, width]`. */
  readonly values: T;
}

/**
 * Advantage estimators of verl. Outcome estimators take a response's score as the sum over its whole padded width; the
 * mask is applied on the way out only, by multiplication. A group of one keeps its score (mean 0, std 1).
 */
export interface VerlAdvantages {
  /** `(s - mean) / (std + epsilon)`, ddof 1, epsilon 1e-6; without `normAdvByStdInGrpo` no division. */
  computeGrpoOutcomeAdvantage<T extends FloatArray>(
    batch: PaddedOutcomes<T>,
    options?: { epsilon?: number; normAdvByStdInGrpo?: boolean },
  ): PaddedAdvantages<T>;
  /**
   * Pass@k: only the best response of a group, `(s_max - s_second) / (std + epsilon)`.
   *
   * @throws `ERR_ARGUMENT_VALUE` for a group of one, which the peer refuses
   */
  computeGrpoPasskOutcomeAdvantage<T extends FloatArray>(
    batch: PaddedOutcomes<T>,
    options?: { epsilon?: number; normAdvByStdInGrpo?: boolean },
  ): PaddedAdvantages<T>;
  /** `s n / (n - 1) - mean n / (n - 1)`. */
  computeRlooOutcomeAdvantage<T extends FloatArray>(batch: PaddedOutcomes<T>): PaddedAdvantages<T>;
  /** The same, but a group of one gets 0. */
  computeRlooVectorizedOutcomeAdvantage<T extends FloatArray>(batch: PaddedOutcomes<T>): PaddedAdvantages<T>;
  /** `s - sum L_j s_j / sum L_j`; NaN in a group without tokens. */
  computeOpoOutcomeAdvantage<T extends FloatArray>(batch: PaddedOutcomes<T>): PaddedAdvantages<T>;
  /** `alpha (s - mean) / fNorm` with alpha = rows / number of non-zero scores, whatever the caller wants. */
  computeGpgOutcomeAdvantage<T extends FloatArray>(
    batch: PaddedOutcomes<T>,
    options?: { fNorm?: number },
  ): PaddedAdvantages<T>;
  /** `s - mean`, whitened over all tokens of the batch. */
  computeReinforcePlusPlusBaselineOutcomeAdvantage<T extends FloatArray>(
    batch: PaddedOutcomes<T>,
  ): PaddedAdvantages<T>;
  /**
   * Discounted returns, whitened. The running return is multiplied by the mask, so a hole cuts the reward off from what
   * came before it.
   */
  computeReinforcePlusPlusOutcomeAdvantage<T extends FloatArray>(
    batch: PaddedRewards<T>,
    options: { gamma: number },
  ): PaddedAdvantages<T>;
  /** `G_t - b` with G the undiscounted return. */
  computeRemaxOutcomeAdvantage<T extends FloatArray>(batch: PaddedRemax<T>): PaddedAdvantages<T>;
  /** GAE that carries over masked tokens; advantages are whitened and not masked, so values stand in the padding. */
  computeGaeAdvantageReturn<T extends FloatArray>(
    batch: PaddedRewardsAndValues<T>,
    options: { gamma: number; lam: number },
  ): PaddedAdvantages<T>;
  /**
   * `(v - mean) / sqrt(variance + 1e-8)` over the masked values, ddof 1, the count + 1e-8; values outside the mask are
   * transformed too.
   *
   * @throws `ERR_NOT_FINITE` over fewer than two tokens
   */
  maskedWhiten<T extends FloatArray>(batch: PaddedValues<T>): Owned<T>;
}

const WHITEN: WhitenRule = { select: true, unbiased: true, countEpsilon: 1e-8, floor: 1e-8 };

// Both results are the same array in the peer; here they do not share memory.
function same<T extends FloatArray>(advantages: Owned<T>): PaddedAdvantages<T> {
  return { advantages, returns: advantages.slice() as Owned<T> };
}

function open<T extends FloatArray>(batch: PaddedOutcomes<T>) {
  const padded = openBatch(batch, "tokenLevelRewards", batch?.tokenLevelRewards);
  return { padded, groups: padded.groups(batch.index), scores: padded.rowSums(batch.tokenLevelRewards) };
}

/** @internal */
export const verlAdvantages: VerlAdvantages = {
  computeGrpoOutcomeAdvantage(batch, { epsilon = 1e-6, normAdvByStdInGrpo = true } = {}) {
    assertNumber(epsilon, "epsilon", { low: 0 });
    const { padded, groups, scores } = open(batch);
    const form = normAdvByStdInGrpo ? GroupForm.scale : GroupForm.centre;
    return same(padded.spread(groupScores(groups, scores, { form, singleton: Singleton.raw, epsilon })));
  },

  computeGrpoPasskOutcomeAdvantage(batch, { epsilon = 1e-6, normAdvByStdInGrpo = true } = {}) {
    assertNumber(epsilon, "epsilon", { low: 0 });
    const { padded, groups, scores } = open(batch);
    const sizes = new Int32Array(groups.count);
    for (const group of groups.index) sizes[group]!++;
    const alone = groups.index.findIndex((group) => sizes[group] === 1);
    if (alone >= 0) {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `index: expected groups of at least 2, got one of 1 at row ${alone}`,
      );
    }
    const rule = {
      form: GroupForm.passK,
      singleton: Singleton.same,
      epsilon: normAdvByStdInGrpo ? epsilon : -1,
    };
    return same(padded.spread(groupScores(groups, scores, rule)));
  },

  computeRlooOutcomeAdvantage(batch) {
    const { padded, groups, scores } = open(batch);
    const rule = { form: GroupForm.leaveOneOut, singleton: Singleton.raw };
    return same(padded.spread(groupScores(groups, scores, rule)));
  },

  computeRlooVectorizedOutcomeAdvantage(batch) {
    const { padded, groups, scores } = open(batch);
    const rule = { form: GroupForm.leaveOneOut, singleton: Singleton.zero };
    return same(padded.spread(groupScores(groups, scores, rule)));
  },

  computeOpoOutcomeAdvantage<T extends FloatArray>(batch: PaddedOutcomes<T>) {
    const { padded, groups, scores } = open(batch);
    const baselines = weightedMeans(groups, scores, padded.lengths());
    return same(padded.spread(scores.map((score, i) => score - baselines[i]!) as Owned<T>));
  },

  computeGpgOutcomeAdvantage(batch, { fNorm = 1 } = {}) {
    const { padded, groups, scores } = open(batch);
    const alpha = padded.rows / Math.max(1, scores.filter((score) => score !== 0).length);
    const rule = { form: GroupForm.centre, singleton: Singleton.raw, factor: alpha / fNorm };
    return same(padded.spread(groupScores(groups, scores, rule)));
  },

  computeReinforcePlusPlusBaselineOutcomeAdvantage(batch) {
    const { padded, groups, scores } = open(batch);
    const centred = groupScores(groups, scores, { form: GroupForm.centre, singleton: Singleton.raw });
    return same(padded.whiten(padded.spread(centred), { ...WHITEN, maskResult: true }));
  },

  computeReinforcePlusPlusOutcomeAdvantage(batch, { gamma }) {
    assertNumber(gamma, "gamma", { low: 0, high: 1 });
    const padded = openBatch(batch, "tokenLevelRewards", batch?.tokenLevelRewards);
    const returns = padded.returns(batch.tokenLevelRewards, { maskCarry: true, gamma });
    return { advantages: padded.whiten(returns, { ...WHITEN, maskResult: true }), returns };
  },

  computeRemaxOutcomeAdvantage(batch) {
    const padded = openBatch(batch, "tokenLevelRewards", batch?.tokenLevelRewards);
    const baselines = padded.perRow(batch.rewardBaselines, "rewardBaselines");
    const returns = padded.returns(batch.tokenLevelRewards, { maskRewards: true, gamma: 1 });
    const advantages = padded.subtractRows(returns, baselines, { only: padded.mask, keepElsewhere: true });
    return { advantages, returns };
  },

  computeGaeAdvantageReturn(batch, { gamma, lam }) {
    assertNumber(gamma, "gamma", { low: 0, high: 1 });
    assertNumber(lam, "lam", { low: 0, high: 1 });
    const padded = openBatch(batch, "tokenLevelRewards", batch?.tokenLevelRewards);
    const values = padded.tokens(batch.values, "values");
    const { advantages, returns } = padded.gae(batch.tokenLevelRewards, values, MaskUse.carry, gamma, lam);
    return { advantages: padded.whiten(advantages, WHITEN), returns };
  },

  maskedWhiten(batch) {
    return openBatch(batch, "values", batch?.values).whiten(batch.values, WHITEN);
  },
};
