import { ArgumentError } from "../../errors.ts";
import { assertCount } from "../../validate.ts";

/** When prompts that teach nothing are left out for a while. */
export interface RestOptions {
  /** Draws for which a prompt rests after a group that was all right. Default 0: it does not. */
  readonly solved?: number;
  /** The same after a group that was all wrong. Default 0. */
  readonly failed?: number;
}

/** @internal Checked, with defaults. */
export function checkRest({ solved = 0, failed = 0 }: RestOptions = {}): Required<RestOptions> {
  assertCount(solved, "rest.solved");
  assertCount(failed, "rest.failed");
  return { solved, failed };
}

/** @internal The draw before which a prompt rests after a group with this pass rate. */
export function restsUntil(rate: number, samples: number, draw: number, rest: Required<RestOptions>): number {
  if (samples === 0) return 0;
  if (rate === 1) return rest.solved === 0 ? 0 : draw + rest.solved;
  if (rate === 0) return rest.failed === 0 ? 0 : draw + rest.failed;
  return 0;
}

/**
 * Groups whose rewards are all equal: whatever the baseline of a group, they teach nothing (all right, all wrong).
 *
 * @param rewards - one per response, finite
 * @param groups - one id per response
 * @returns per response 1 where its group has two different rewards, else 0
 * @throws {@link ArgumentError} `ERR_SHAPE` when the lengths differ
 */
export function informative(rewards: ArrayLike<number>, groups: ArrayLike<number | string>): Uint8Array {
  if (rewards.length !== groups.length) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `groups: expected one id per response (${rewards.length}), got ${groups.length}`,
    );
  }
  const first = new Map<number | string, number>();
  const mixed = new Set<number | string>();
  for (let i = 0; i < rewards.length; i++) {
    const group = groups[i]!;
    if (!first.has(group)) first.set(group, rewards[i]!);
    else if (first.get(group) !== rewards[i]) mixed.add(group);
  }
  return Uint8Array.from({ length: rewards.length }, (_, i) => (mixed.has(groups[i]!) ? 1 : 0));
}
