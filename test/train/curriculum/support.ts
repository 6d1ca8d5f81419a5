import { MinformError } from "../../../lib/errors.ts";
import type { PromptRow } from "../../../lib/train/data/prompts.ts";
import type { PromptSampler } from "../../../lib/train/rl/types.ts";

/** Prompts p0, p1, ... with levels where a function gives them. */
export function promptRows(count: number, level?: (i: number) => number): PromptRow[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `p${i}`,
    text: `${i}`,
    ids: Int32Array.of(i),
    answer: null,
    ...(level && { level: level(i) }),
  }));
}

/** Ids of the next draw. */
export function drawIds(sampler: PromptSampler, count: number): string[] {
  return sampler.next(count).map(({ id }) => id);
}

/** The message of the library error that a call throws. */
export function refusal(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof MinformError) return error.message;
    throw error;
  }
  throw new Error("nothing was thrown");
}
