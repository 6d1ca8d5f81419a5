import { informative } from "../curriculum/index.ts";
import type { Ragged } from "../../ragged.ts";
import type { TrainConfig } from "../config/schema.ts";
import type { Rewards } from "./rewards.ts";
import type { Rollouts } from "./types.ts";

/** @internal Per token, 0 for responses that are neither trained on nor compared with; `undefined` when there are none. */
export function leftOut(
  { rollout, curriculum }: TrainConfig,
  { tokens, stopped, promptOf }: Rollouts,
  { verified }: Rewards,
): Ragged<Uint8Array> | undefined {
  const kept = new Uint8Array(stopped.length).fill(1);
  if (rollout.truncated === "mask") kept.set(stopped);
  if (curriculum.dropUniform) {
    // NaN differs from itself; prompts without an answer count as uniform only if there is nothing else to learn from.
    const mixed = informative(verified, promptOf);
    mixed.forEach((isMixed, row) => {
      if (isMixed === 0 && !Number.isNaN(verified[row]!)) kept[row] = 0;
    });
  }
  if (!kept.includes(0)) return undefined;
  const { offsets } = tokens;
  const data = new Uint8Array(tokens.data.length);
  for (const [row, isKept] of kept.entries()) data.fill(isKept, offsets[row]!, offsets[row + 1]!);
  return { data, offsets };
}
