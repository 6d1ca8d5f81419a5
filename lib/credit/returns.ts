import { launch } from "../cuda/launch.ts";
import { addon } from "../load.ts";
import type { Mask, Owned, Ragged, Values } from "../ragged.ts";
import { assertStatus } from "../kernel-status.ts";
import { assertRaggedValues, checkMask, outputLike } from "../placed-values.ts";
import { assertNumber } from "../validate.ts";

/** Options of {@link returns}. */
export interface ReturnsOptions<T extends Values> {
  /** Discount per counted token, in [0, 1]. Default 1. */
  gamma?: number;
  /** One per token: the recursion passes over masked-out tokens without discounting; they get +0. */
  mask?: Mask;
  /** Reused for the result. */
  out?: T;
}

/**
 * Reward-to-go: `G_t = R_t + gamma G_next`, over the counted tokens of each response.
 *
 * @param rewards - finite token rewards
 * @returns one return per token
 * @throws {@link ArgumentError}; {@link NumericError} `ERR_NOT_FINITE` for a NaN or an infinite reward that counts
 */
export function returns<T extends Values>(
  rewards: Ragged<T>,
  options: ReturnsOptions<T> = {},
): Ragged<Owned<T>> {
  const { gamma = 1, mask, out } = options;
  assertRaggedValues(rewards, "rewards");
  assertNumber(gamma, "gamma", { low: 0, high: 1 });
  const { data, offsets } = rewards;
  const result = outputLike(out, data, data.length, "out", "rewards.data");
  const status = launch(
    "returns",
    addon().credit.returns,
    data,
    offsets,
    checkMask(mask, "mask", data.length, data),
    gamma,
    result,
  );
  assertStatus(status, offsets, { rewards: data });
  return { data: result, offsets };
}
