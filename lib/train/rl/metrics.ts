import { reflectionScores, repetitionScores } from "../../metrics/index.ts";
import type { Ragged } from "../../ragged.ts";
import type { Estimate } from "./advantages.ts";
import type { StepCredit } from "./credit.ts";
import { meanOf, spreadMetrics } from "./means.ts";
import type { Rewards } from "./rewards.ts";
import type { Rollouts } from "./types.ts";

/** @internal What a step's responses are like: lengths, steps, answers, repetition. */
export function responseMetrics(rollouts: Rollouts, { stepEnds, verified }: Rewards): Record<string, number> {
  const { prompts, tokens, stopped, texts } = rollouts;
  const lengths = lengthsOf(tokens.offsets);
  const where = (wanted: number) => lengths.filter((_, row) => verified[row] === wanted);
  return {
    ...spreadMetrics("response_length", lengths),
    ...spreadMetrics("response_length/correct", where(1)),
    ...spreadMetrics("response_length/incorrect", where(0)),
    "response_length/clip_ratio": 1 - meanOf(stopped),
    ...spreadMetrics(
      "prompt_length",
      prompts.map(({ ids }) => ids.length),
    ),
    ...spreadMetrics("num_steps", lengthsOf(stepEnds.offsets)),
    ...spreadMetrics("repetition", repetitionScores(tokens)),
    ...spreadMetrics("reflection", reflectionScores(texts)),
    ...answerMetrics(rollouts, verified),
  };
}

// pass@n: share of the prompts with a known answer of which at least one response is right.
function answerMetrics({ prompts, promptOf }: Rollouts, verified: Float32Array): Record<string, number> {
  const groups = prompts.map(() => ({ right: 0, known: 0 }));
  verified.forEach((value, row) => {
    if (Number.isNaN(value)) return;
    groups[promptOf[row]!]!.right += value;
    groups[promptOf[row]!]!.known++;
  });
  const known = groups.filter((group) => group.known > 0);
  const share = (holds: (group: { right: number; known: number }) => boolean) =>
    known.length === 0 ? {} : known.filter(holds).length / known.length;
  if (known.length === 0) return { "groups/verifiable": 0 };
  return {
    "pass@1": meanOf(verified),
    "pass@n": share(({ right }) => right > 0) as number,
    "groups/verifiable": known.length / prompts.length,
    "groups/all_right": share(({ right, known: count }) => right === count) as number,
    "groups/all_wrong": share(({ right }) => right === 0) as number,
  };
}

/** @internal What a step's responses are worth. */
export function rewardMetrics(
  { steps, verified }: Rewards,
  credit: StepCredit | undefined,
  { scores, rewards }: { readonly scores: Float32Array; readonly rewards: Float32Array },
  { advantages, returns }: Estimate,
): Record<string, number> {
  return {
    ...spreadMetrics("critic/score", scores),
    ...spreadMetrics("critic/rewards", rewards),
    ...spreadMetrics("critic/rewards/verifiable", verified),
    ...(steps === undefined ? {} : spreadMetrics("critic/rewards/process", steps.data)),
    ...(credit === undefined ? {} : spreadMetrics("critic/rewards/outcome", credit.outcomes)),
    ...spreadMetrics("critic/advantages", advantages.data),
    ...spreadMetrics("critic/returns", returns.data),
  };
}

/** @internal How well values foretell returns: 1 - Var(returns - values) / Var(returns). */
export function valueMetrics(
  values: Ragged<Float32Array>,
  returns: Ragged<Float32Array>,
): Record<string, number> {
  const errors = returns.data.map((value, i) => value - values.data[i]!);
  const spread = variance(returns.data);
  return {
    ...spreadMetrics("critic/values", values.data),
    "critic/vf_explained_var": spread === 0 ? 0 : 1 - variance(errors) / spread,
  };
}

function variance(values: Float32Array): number {
  const mean = meanOf(values);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length);
}

function lengthsOf(offsets: Int32Array): Int32Array {
  return Int32Array.from({ length: offsets.length - 1 }, (_, row) => offsets[row + 1]! - offsets[row]!);
}
