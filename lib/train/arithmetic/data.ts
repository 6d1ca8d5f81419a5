import { PLAIN_HABITS } from "./rollouts.ts";
import { labelSteps } from "./labels.ts";
import { type Problem, promptOf } from "./problem.ts";
import { randomStream } from "./random.ts";
import { sampleTokens } from "./sampling.ts";
import { type Split, splitProblem } from "./split.ts";
import { EOS } from "./vocabulary.ts";

const SOLUTIONS = 2; // tag of the random streams of solutions; the splits have 0 and 1

/** A problem and a solution of it, as ids. */
export interface ArithmeticExample {
  readonly problem: Problem;
  /** Ends with {@link EOS}. */
  readonly tokens: readonly number[];
}

/** Example `index` of the mixture that the base model learns from: solutions as {@link PLAIN_HABITS} write them. */
export function mixtureExample(split: Split, seed: number, index: number): ArithmeticExample {
  const problem = splitProblem(split, seed, index);
  const tokens = sampleTokens(problem, PLAIN_HABITS, randomStream(seed, SOLUTIONS, index));
  return { problem, tokens };
}

/** Text of the steps of a solution; the token that ends a step is not part of it. */
export function stepTexts(text: string): string[] {
  const steps = text.split("\n\n");
  return steps.length > 1 && steps.at(-1) === "" ? steps.slice(0, -1) : steps;
}

/** A labelled solution; labels after the first wrong step are `null`. */
export interface LabelledSolution {
  readonly prompt: string;
  readonly completions: readonly string[];
  readonly labels: readonly (boolean | null)[];
}

/**
 * Labels a solution step by step up to its first error: see {@link labelSteps}. A box is right only where the solution
 * ends with it.
 */
export function labelSolution(problem: Problem, steps: readonly string[], ended: boolean): LabelledSolution {
  const labels = labelSteps(problem, steps);
  const good = labels.map(
    ({ kind, good }, i) => good && (kind !== "box" || (ended && i === steps.length - 1)),
  );
  const first = good.indexOf(false);
  return {
    prompt: promptOf(problem),
    completions: steps,
    labels: good.map((label, i) => (first >= 0 && i > first ? null : label)),
  };
}
