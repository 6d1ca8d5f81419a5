import type { GroupIds } from "../advantage/index.ts";
import { minForm as creditMinForm } from "../credit/index.ts";
import { ArgumentError } from "../errors.ts";
import { type FloatArray, type Owned, raggedOffsets } from "../ragged.ts";
import { assertOneOf } from "../validate.ts";
import { BatchDivisor, KlForm, RatioLevel, RowDivisor, TokenLoss } from "./kernels.ts";
import {
  othersRatio,
  openBatch,
  type PaddedAdvantages,
  type PaddedBatch,
  type PaddedKl,
  type PaddedPolicyLoss,
} from "./padded.ts";

/** Process rewards of a padded batch. */
export interface PaddedProcessRewards<T extends FloatArray> extends PaddedBatch {
  /** `[rows, width]`; read at step ends only. */
  readonly processRewards: T;
  /** `[rows, width]`, 1 at the last token of every step. */
  readonly stepEndMask: Uint8Array;
}

/** What {@link PureVerlPreset.minForm} returns. */
export interface PaddedMinForm<T extends FloatArray> {
  /** softmax(-r / T) over the step ends of a response, +0 elsewhere; NaN throughout a response without a step. */
  readonly weights: Owned<T>;
  /** Weight times reward. */
  readonly tokenRewards: Owned<T>;
}

/** Token rewards of a padded batch and the prompts they belong to. */
export interface PaddedOutcomes<T extends FloatArray> extends PaddedBatch {
  /** `[rows, width]` rewards. */
  readonly tokenLevelRewards: T;
  /** Prompt id of each response. */
  readonly index: GroupIds;
}

/** Log-probs and advantages of a padded batch. */
export interface PaddedPolicyBatch<T extends FloatArray> extends PaddedBatch {
  /** `[rows, width]`, of the policy that sampled (or that the update started from). */
  readonly oldLogProbs: T;
  /** `[rows, width]`, of the policy being trained. */
  readonly logProbs: T;
  /** `[rows, width]`. */
  readonly advantages: T;
}

/** Log-probs under two policies. */
export interface PaddedLogProbs<T extends FloatArray> extends PaddedBatch {
  /** `[rows, width]`, of the policy being trained. */
  readonly logProbs: T;
  /** `[rows, width]`, of the reference policy. */
  readonly refLogProbs: T;
}

/** Rewards per token and per response. */
export interface PaddedVerifiable<T extends FloatArray> extends PaddedBatch {
  /** `[rows, width]`. */
  readonly tokenLevelRewards: T;
  /** `[rows]`, 1 solved and 0 not. */
  readonly verifiableRewards: T;
}

/** The verl branch of PURE (github.com/CJReinforce/PURE). */
export interface PureVerlPreset {
  /**
   * Approximate min-form credit: weight softmax(-r / T) over the step ends, token reward = weight x reward. The same
   * numbers as `minForm`, except that a response without a step becomes NaN, as in the peer.
   *
   * @param options - `temperature` T > 0, default 0.1
   * @throws `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`, `ERR_NOT_FINITE`
   */
  minForm<T extends FloatArray>(
    batch: PaddedProcessRewards<T>,
    options?: { temperature?: number },
  ): PaddedMinForm<T>;
  /**
   * Adds the verifiable reward (0 or 1, times `coefficient`, default 1) to the last token of each response, before any
   * baseline; in a response without tokens to its last padding slot.
   */
  addVerifiableReward<T extends FloatArray>(
    batch: PaddedVerifiable<T>,
    options?: { coefficient?: number },
  ): Owned<T>;
  /**
   * Leave-one-out advantage of token returns. The baseline divides the siblings' pooled returns by the padded width:
   * `b_i = sum_{j != i} sum_t G_jt / ((n - 1) width)`; a group of one is NaN. `returnAggregateMethod: "min"` is a suffix
   * minimum over tokens, the zeros of padding and non-step tokens included, and its values in holes count towards the
   * siblings' baseline. The `returns` have the baseline subtracted
   * too; `advNorm` whitens the advantages (ddof 1).
   *
   * @throws `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; `ERR_NOT_FINITE` for `advNorm` over fewer than two tokens
   */
  computeRlooOutcomeAdvantage<T extends FloatArray>(
    batch: PaddedOutcomes<T>,
    options?: { advNorm?: boolean; returnAggregateMethod?: "sum" | "min" },
  ): PaddedAdvantages<T>;
  /**
   * PPO clip with one symmetric bound (default 0.2), no clamp of the log-ratio, no dual clip, and means that divide by
   * the number of tokens + 1e-8.
   */
  computePolicyLoss<T extends FloatArray>(
    batch: PaddedPolicyBatch<T>,
    options?: { clipRange?: number },
  ): PaddedPolicyLoss<T>;
  /**
   * KL estimates by their verl names `"kl"`, `"abs"`, `"mse"` and `"low_var_kl"` (k3, the output clamped to +-10 but not
   * the input: below d = -2.61 the gradient is 0, and NaN where exp overflows).
   */
  klPenalty<T extends FloatArray>(
    batch: PaddedLogProbs<T>,
    options: { klPenalty: "kl" | "abs" | "mse" | "low_var_kl" },
  ): PaddedKl<T>;
}

// masked_mean of that branch multiplies by the mask and adds 1e-8 to the count.
const COUNT_EPSILON = 1e-8;
const WHITEN = { unbiased: true, maskResult: true, countEpsilon: COUNT_EPSILON, floor: 1e-8 };

/** @internal Credit of the family over rows of the padded width; rows without a step become NaN. */
export function paddedMinForm<T extends FloatArray>(
  batch: PaddedProcessRewards<T>,
  temperature = 0.1,
): PaddedMinForm<T> {
  const padded = openBatch(batch, "processRewards", batch?.processRewards);
  const mask = padded.flags(batch.stepEndMask, "stepEndMask");
  const { rows, width } = padded;
  const offsets = raggedOffsets(new Int32Array(rows).fill(width));
  const credit = creditMinForm({ data: batch.processRewards, offsets }, { mask, temperature });
  for (let row = 0; row < rows; row++) {
    if (mask.subarray(row * width, (row + 1) * width).includes(1)) continue;
    credit.weights.data.fill(Number.NaN, row * width, (row + 1) * width);
    credit.rewards.data.fill(Number.NaN, row * width, (row + 1) * width);
  }
  return { weights: credit.weights.data, tokenRewards: credit.rewards.data };
}

/** @internal The verl branch of PURE. */
export const pureVerl: PureVerlPreset = {
  minForm: (batch, { temperature } = {}) => paddedMinForm(batch, temperature),

  addVerifiableReward(batch, { coefficient = 1 } = {}) {
    const padded = openBatch(batch, "tokenLevelRewards", batch?.tokenLevelRewards);
    const verifiable = padded.perRow(batch.verifiableRewards, "verifiableRewards");
    return padded.addAtLast(
      batch.tokenLevelRewards,
      verifiable.map((reward) => coefficient * reward) as typeof verifiable,
    );
  },

  computeRlooOutcomeAdvantage(batch, { advNorm = false, returnAggregateMethod = "sum" } = {}) {
    assertOneOf(returnAggregateMethod, "returnAggregateMethod", ["sum", "min"]);
    const padded = openBatch(batch, "tokenLevelRewards", batch?.tokenLevelRewards);
    const groups = padded.groups(batch.index);
    const smallest = returnAggregateMethod === "min";
    const rule = { smallest, maskRewards: true, maskResult: !smallest, gamma: 1 };
    const returns = padded.returns(batch.tokenLevelRewards, rule);
    const widths = padded.newRows().fill(padded.width) as Owned<typeof batch.tokenLevelRewards>;
    const baselines = othersRatio(groups, padded.rowSums(returns), widths);
    const centred = padded.subtractRows(returns, baselines, { only: padded.mask });
    const advantages = advNorm ? padded.whiten(centred, WHITEN) : (centred.slice() as typeof centred);
    return { advantages, returns: centred };
  },

  computePolicyLoss(batch, { clipRange = 0.2 } = {}) {
    const padded = openBatch(batch, "logProbs", batch?.logProbs);
    return padded.policyLoss(
      batch.logProbs,
      padded.tokens(batch.oldLogProbs, "oldLogProbs"),
      padded.tokens(batch.advantages, "advantages"),
      {
        loss: TokenLoss.clip,
        level: RatioLevel.token,
        logLow: Number.NEGATIVE_INFINITY,
        logHigh: Number.POSITIVE_INFINITY,
        low: 1 - clipRange,
        high: 1 + clipRange,
        dualClip: 0,
        delta: Number.POSITIVE_INFINITY,
        tauPositive: 1,
        tauNegative: 1,
        countEpsilon: COUNT_EPSILON,
      },
      { row: RowDivisor.none, batch: BatchDivisor.tokensPlusEpsilon, scale: 1 },
    );
  },

  klPenalty(batch, { klPenalty }) {
    const padded = openBatch(batch, "logProbs", batch?.logProbs);
    const form = { kl: KlForm.k1, abs: KlForm.abs, mse: KlForm.k2, low_var_kl: KlForm.k3 }[klPenalty];
    if (form === undefined) {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `klPenalty: expected one of "kl", "abs", "mse", "low_var_kl", got ${JSON.stringify(klPenalty)}`,
      );
    }
    return padded.kl(batch.logProbs, padded.tokens(batch.refLogProbs, "refLogProbs"), {
      form,
      inputClamp: Number.POSITIVE_INFINITY,
      outputClamp: klPenalty === "low_var_kl" ? 10 : Number.POSITIVE_INFINITY,
    });
  },
};
