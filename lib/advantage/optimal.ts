import { launch } from "../cuda/launch.ts";
import { addon } from "../load.ts";
import type { Mask, Ragged, Values } from "../ragged.ts";
import { assertStatus } from "../kernel-status.ts";
import { allocate, assertLike, assertRaggedValues, checkMask, outputLike } from "../placed-values.ts";
import { assertNumber } from "../validate.ts";
import { GroupCall, type GroupIds, type GroupOptions, type TokenAdvantages } from "./groups.ts";

/** Options of {@link optimalTokenBaseline}. */
export interface OptimalTokenBaselineOptions<T extends Values> extends GroupOptions {
  /** Log-prob of each token, <= 0; -Infinity is a probability of 0. */
  logProbs: Ragged<T>;
  /** Sum over the vocabulary of the squared probabilities at each token, in (0, 1]. */
  sumSquaredProbs: Ragged<T>;
  /** One id per response. */
  groups: GroupIds;
  /** One per token: as if the masked-out tokens were not there; they get +0. */
  mask?: Mask;
  /** Discount per counted token, in [0, 1]. Default 1. */
  gamma?: number;
  /** Reused for the advantages. */
  out?: T;
}

/**
 * Advantages over the baseline of least variance: `A_t = G_t - B_t`,
 * `B_t = sum_j W_jt G_jt / sum_j W_jt` over the responses of the group (the own one included) that have a t-th counted
 * token, where `W_t = sum_{s <= t} (1 - 2 pi_s + sum_v pi_s(v)^2)` is the squared norm of the score of the logits so far.
 *
 * Equal returns at a position give exactly 0. Where no logit can move (all W are 0) the plain mean stands in. At
 * positions that one response alone reaches, the baseline is its own return and the advantage 0.
 *
 * Source: the optimal baseline of Greensmith, Bartlett and Baxter (JMLR 5, 2004), token by token.
 *
 * @param tokenRewards - finite; NaN as `unscorable` says
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` naming argument, row and position, `ERR_SINGLETON_GROUP`
 */
export function optimalTokenBaseline<T extends Values>(
  tokenRewards: Ragged<T>,
  options: OptimalTokenBaselineOptions<T>,
): TokenAdvantages<T> {
  const { logProbs, sumSquaredProbs, groups, mask, gamma = 1, out } = options;
  assertRaggedValues(tokenRewards, "tokenRewards");
  assertLike(logProbs, "logProbs", tokenRewards, "tokenRewards");
  assertLike(sumSquaredProbs, "sumSquaredProbs", tokenRewards, "tokenRewards");
  assertNumber(gamma, "gamma", { low: 0, high: 1 });
  const { data, offsets } = tokenRewards;
  const call = new GroupCall(groups, offsets.length - 1, options, data);
  const advantages = outputLike(out, data, data.length, "out", "tokenRewards.data");
  const returns = allocate(data, data.length);
  const status = launch(
    "optimalTokenBaseline",
    addon().advantage.optimalBaseline,
    data,
    logProbs.data,
    sumSquaredProbs.data,
    offsets,
    checkMask(mask, "mask", data.length, data),
    gamma,
    ...call.native,
    advantages,
    returns,
    call.stats,
  );
  assertStatus(status, offsets, {
    tokenRewards: data,
    sumSquaredProbs: sumSquaredProbs.data,
    logProbs: logProbs.data,
  });
  return {
    advantages: { data: advantages, offsets },
    returns: { data: returns, offsets },
    stats: call.finish<T>(),
  };
}
