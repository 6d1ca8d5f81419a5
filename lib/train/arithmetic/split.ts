import { drawProblem, type Problem, promptOf } from "./problem.ts";
import { randomStream } from "./random.ts";

/** The two halves of the embedded task. */
export const SPLITS = ["train", "held-out"] as const;

/** One of {@link SPLITS}. */
export type Split = (typeof SPLITS)[number];

const HELD_OUT_TENTHS = 1;

/** Which split a problem belongs to: a hash of its prompt decides, so that no prompt is ever in both. */
export function splitOf(problem: Problem): Split {
  return hash(promptOf(problem)) % 10 < HELD_OUT_TENTHS ? "held-out" : "train";
}

/** Problem `index` of a split; the same for the same seed, whatever else is drawn. */
export function splitProblem(split: Split, seed: number, index: number): Problem {
  const random = randomStream(seed, SPLITS.indexOf(split), index);
  for (;;) {
    const problem = drawProblem(random);
    if (splitOf(problem) === split) return problem;
  }
}

// FNV-1a, its bits mixed once more: the last characters of prompts are few.
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x45d9f3b);
  return (h ^ (h >>> 15)) >>> 0;
}
