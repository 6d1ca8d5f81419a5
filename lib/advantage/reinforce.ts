import { launch } from "../cuda/launch.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import { addon } from "../load.ts";
import type { Mask, Owned, Ragged, Values } from "../ragged.ts";
import { assertStatus } from "../kernel-status.ts";
import { allocate, assertRaggedValues, assertValues, checkMask, outputLike } from "../placed-values.ts";
import { assertNumber, assertOffsets, assertTypedArray } from "../validate.ts";
import { assertFiniteVector } from "./gae.ts";
import {
  assertRowCount,
  type GroupIds,
  type GroupOptions,
  type TokenAdvantages,
  type TokenEstimate,
} from "./groups.ts";
import { grpo } from "./outcomes.ts";
import { spread } from "./streams.ts";
import { whiten as whitened } from "./whiten.ts";

/** Options of {@link remax}. */
export interface RemaxOptions<T extends Values> {
  /** One per token: masked-out tokens read nothing and get +0. */
  mask?: Mask;
  /** Reused for the advantages. */
  out?: T;
}

/**
 * ReMax: `A_t = G_t - b_i`, with `G_t` the reward-to-go (gamma 1) and `b_i` the reward of the greedy response to the
 * same prompt.
 *
 * Source: arXiv 2310.10505.
 *
 * @param tokenRewards - finite token rewards
 * @param baselines - finite, one per response
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_SHAPE`; {@link NumericError} `ERR_NOT_FINITE` naming row and
 * position
 */
export function remax<T extends Values>(
  tokenRewards: Ragged<T>,
  baselines: T,
  options: RemaxOptions<T> = {},
): TokenEstimate<T> {
  assertRaggedValues(tokenRewards, "tokenRewards");
  assertFiniteVector(
    baselines,
    "baselines",
    tokenRewards.offsets.length - 1,
    tokenRewards.data,
    "tokenRewards.data",
  );
  return rewardToGo("remax", tokenRewards, 1, baselines, options);
}

/** How {@link reinforcePlusPlus} and {@link reinforcePlusPlusBaseline} whiten. */
export interface WhiteningOptions<T extends Values> {
  /** One per token: masked-out tokens read nothing, count nowhere and get +0. */
  mask?: Mask;
  /** Whiten the advantages over the counted tokens of the batch. Default true. */
  whiten?: boolean;
  /** Added to the variance, >= 0. Default 1e-8. */
  epsilon?: number;
  /** The variance is the sum of squares over n - ddof. Default 1. */
  ddof?: 0 | 1;
  /** Reused for the advantages. */
  out?: T;
}

/** Options of {@link reinforcePlusPlus}. */
export interface ReinforcePlusPlusOptions<T extends Values> extends WhiteningOptions<T> {
  /** Discount per counted token, in [0, 1]. Default 1. */
  gamma?: number;
}

/**
 * REINFORCE++: the reward-to-go of every token, whitened over the counted tokens of the whole batch. The recursion
 * passes over masked-out tokens, so a reward behind a tool span reaches the tokens before it.
 *
 * Source: arXiv 2501.03262.
 *
 * @param tokenRewards - finite token rewards; a KL penalty goes in with {@link klReward}
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` naming row and position
 */
export function reinforcePlusPlus<T extends Values>(
  tokenRewards: Ragged<T>,
  options: ReinforcePlusPlusOptions<T> = {},
): TokenEstimate<T> {
  const { gamma = 1 } = options;
  assertRaggedValues(tokenRewards, "tokenRewards");
  assertNumber(gamma, "gamma", { low: 0, high: 1 });
  const { advantages, returns } = rewardToGo("reinforcePlusPlus", tokenRewards, gamma, null, options);
  return { advantages: whitenInPlace(advantages, options, options.mask), returns };
}

/** Options of {@link reinforcePlusPlusBaseline}. */
export interface ReinforcePlusPlusBaselineOptions<T extends Values>
  extends WhiteningOptions<T>,
    GroupOptions {}

/**
 * REINFORCE++ with a group baseline: every counted token gets `r_i - mean of its group`, then all are whitened over
 * the counted tokens of the batch, so long responses weigh more in the statistics. `returns` holds the advantages before
 * whitening.
 *
 * Source: arXiv 2501.03262.
 *
 * @param rewards - one finite reward per response
 * @param groups - one id per response
 * @param offsets - token offsets, one row per response
 * @throws as {@link grpo}
 */
export function reinforcePlusPlusBaseline<T extends Values>(
  rewards: T,
  groups: GroupIds,
  offsets: Int32Array,
  options: ReinforcePlusPlusBaselineOptions<T> = {},
): TokenAdvantages<T> {
  assertValues(rewards, "rewards");
  const { advantages: perResponse, stats } = grpo(rewards, groups, { ...options, std: "none", epsilon: 0 });
  assertTokenRows(offsets, rewards.length);
  const mask =
    options.unscorable === "exclude" ? scorableTokens(rewards, offsets, options.mask) : options.mask;
  const values = perResponse as unknown as T;
  const returns = spread(values, offsets, mask, undefined);
  const advantages = spread(values, offsets, mask, options.out);
  return { advantages: whitenInPlace(advantages, options, mask), returns, stats };
}

// Responses that could not be scored must not move the statistics of the others.
function scorableTokens(rewards: Values, offsets: Int32Array, mask: Mask | undefined): Mask {
  const total = offsets[rewards.length]!;
  const kept =
    rewards instanceof DeviceTensor ? rewards.stream.allocate("uint8", [total]) : new Uint8Array(total);
  const checked = checkMask(mask, "mask", total, rewards);
  const { scorableTokens: kernel } = addon().advantage;
  launch("reinforcePlusPlusBaseline", kernel, rewards, offsets, checked, kept);
  return kept;
}

function rewardToGo<T extends Values>(
  name: string,
  { data, offsets }: Ragged<T>,
  gamma: number,
  baselines: T | null,
  { mask, out }: RemaxOptions<T>,
): TokenEstimate<T> {
  const advantages = outputLike(out, data, data.length, "out", "tokenRewards.data");
  const returns = allocate(data, data.length);
  const status = launch(
    name,
    addon().advantage.rewardToGo,
    data,
    offsets,
    checkMask(mask, "mask", data.length, data),
    gamma,
    baselines,
    advantages,
    returns,
  );
  assertStatus(status, offsets, { tokenRewards: data });
  return { advantages: { data: advantages, offsets }, returns: { data: returns, offsets } };
}

function whitenInPlace<T extends Values>(
  advantages: Ragged<Owned<T>>,
  { whiten = true, epsilon = 1e-8, ddof = 1 }: WhiteningOptions<T>,
  mask?: Mask,
): Ragged<Owned<T>> {
  if (!whiten) return advantages;
  const values = advantages as unknown as Ragged<T>;
  const options = { epsilon, ddof, out: values.data, ...(mask === undefined ? {} : { mask }) };
  return whitened(values, options);
}

function assertTokenRows(offsets: Int32Array, rows: number): void {
  assertTypedArray(offsets, "offsets", ["Int32Array"]);
  assertOffsets(offsets, offsets[offsets.length - 1] ?? 0, "offsets");
  assertRowCount(offsets, "offsets", rows, "rewards");
}
