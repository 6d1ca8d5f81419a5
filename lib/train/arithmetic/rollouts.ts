import { findStepEnds } from "../../credit/index.ts";
import { ragged } from "../../ragged.ts";
import { labelSteps } from "./labels.ts";
import type { Habits } from "./policy.ts";
import { drawProblem, type Problem, promptOf } from "./problem.ts";
import { type Random, randomStream } from "./random.ts";
import { sampleSolution, solutionLogProbs } from "./sampling.ts";
import { decodeTokens, EOS, SEPARATOR } from "./vocabulary.ts";

/** The error mix of the default policy: about a third of its answers are right. */
export const PLAIN_HABITS: Habits = {
  restate: 0.1,
  falseRestate: 0.15,
  fencepostPlus: 0.25,
  fencepostMinus: 0.6,
  slip: 0.02,
  skip: 0.03,
  miscopy: 0.04,
  wrongBox: 0.03,
};

/** A policy whose rollouts are drawn, and the slightly different one that a training step made of it. */
export interface NamedPolicy {
  /** Name in the rows (`generator`). */
  readonly name: string;
  /** As it sampled. */
  readonly sampling: Habits;
  /** As it is now: the numerator of the PPO ratio. */
  readonly current: Habits;
}

/** The default policies differ in one habit: the second pads its solutions by restating the running total. */
export const DEFAULT_POLICIES: readonly NamedPolicy[] = [
  trained("plain (restates 10 %)", PLAIN_HABITS),
  trained("padding (restates 45 %)", { ...PLAIN_HABITS, restate: 0.45 }),
];

// A fifth less of every bad habit.
function trained(name: string, sampling: Habits): NamedPolicy {
  const current = Object.fromEntries(Object.entries(sampling).map(([habit, p]) => [habit, 0.8 * p]));
  return { name, sampling, current: current as unknown as Habits };
}

/** Options of {@link arithmeticRollouts}. */
export interface ArithmeticRolloutsOptions {
  /** Problems, each a group. Default 64. */
  prompts?: number;
  /** Rollouts per problem and policy. Default 4. */
  samples?: number;
  /** Default {@link DEFAULT_POLICIES}. */
  policies?: readonly NamedPolicy[];
  /** Default 1. */
  seed?: number;
}

/** A rollout in the keys of a rollouts file. */
export interface ArithmeticRollout {
  /** Unique. */
  readonly id: string;
  /** Id of the problem. */
  readonly group: string;
  /** The problem as text. */
  readonly question: string;
  /** Its right answer. */
  readonly answer: string;
  /** Name of the policy. */
  readonly generator: string;
  /** Text of each step. */
  readonly steps: readonly string[];
  /** 0-based index of the first wrong step, -1 for none. */
  readonly first_error: number;
  /** Whether the box holds the right answer. */
  readonly final_answer_correct: boolean;
  /** Of {@link noisyLabelRewards}. */
  readonly step_rewards: readonly number[];
  /** Ids of all tokens of the solution. */
  readonly token_ids: readonly number[];
  /** Index of the last token of each step. */
  readonly step_ends: readonly number[];
  /** Under {@link NamedPolicy.current}. */
  readonly log_probs: readonly number[];
  /** Under {@link NamedPolicy.sampling}. */
  readonly old_log_probs: readonly number[];
}

/**
 * Rollouts of single-digit arithmetic, a step per line: `4-3=1`, `1+1=2`, `2+3=5`, `\boxed{5}` for `4-3+1+3=`. Hand-made
 * policies write them, with right and wrong steps alike; every log-prob is the policy's own. The same options give the
 * same rollouts.
 */
export function* arithmeticRollouts(options: ArithmeticRolloutsOptions = {}): Generator<ArithmeticRollout> {
  const { prompts = 64, samples = 4, policies = DEFAULT_POLICIES, seed = 1 } = options;
  for (let p = 0; p < prompts; p++) {
    const problem = drawProblem(randomStream(seed, p));
    for (const [q, policy] of policies.entries()) {
      for (let s = 0; s < samples; s++) {
        const random = randomStream(seed, p, q, s);
        yield { id: `${p}-${q}-${s}`, group: `${p}`, ...rolloutOf(problem, policy, random) };
      }
    }
  }
}

function rolloutOf(
  problem: Problem,
  policy: NamedPolicy,
  random: Random,
): Omit<ArithmeticRollout, "id" | "group"> {
  const { tokens, logProbs } = sampleSolution(problem, policy.sampling, random);
  const { stepEnds } = findStepEnds(ragged([tokens], "int32"), { separators: [SEPARATOR], eos: EOS });
  const ends = Array.from(stepEnds.data);
  const steps = ends.map((end, k) => decodeTokens(tokens.slice((ends[k - 1] ?? -1) + 1, end + 1)).trimEnd());
  const good = labelSteps(problem, steps).map((label) => label.good);
  return {
    question: promptOf(problem),
    answer: String(problem.answer),
    generator: policy.name,
    steps,
    first_error: good.indexOf(false),
    final_answer_correct: tokens.at(-1) === EOS && steps.at(-1) === `\\boxed{${problem.answer}}`,
    step_rewards: noisyLabelRewards(good, random),
    token_ids: tokens,
    step_ends: ends,
    log_probs: solutionLogProbs(problem, policy.current, tokens),
    old_log_probs: logProbs,
  };
}

/** What stands in for a process reward model: +0.8 for a good step and -0.8 for a bad one, each with noise in [-0.2, 0.2). */
export function noisyLabelRewards(good: readonly boolean[], random: Random): number[] {
  return good.map((isGood) => (isGood ? 0.8 : -0.8) + 0.2 * (2 * random() - 1));
}
