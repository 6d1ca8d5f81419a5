import type { PromptRow } from "../data/prompts.ts";
import { responseLogProbs } from "./forward.ts";
import { meanOf } from "./means.ts";
import type { Parts } from "./parts.ts";
import { type Rewards, type RewardSources, scoreRollouts } from "./rewards.ts";
import { rollOut } from "./rollout.ts";
import { Sequences } from "./sequences.ts";

// Streams of evaluation are far from those of training, and the same every time.
const STREAM = 2 ** 32;

/**
 * @internal Metrics on the held-out prompts: `eval/pass@1/greedy` and `/sampled` (or `eval/reward/...` where a function
 * rewards), and of the sampled responses `eval/steps`, `eval/tokens`, `eval/clip_ratio`, `eval/prm` (mean over responses
 * with a step of the lowest step reward, wherever there is a PRM) and `eval/kl` (mean over responses of the sum of log-ratios to the
 * reference policy).
 */
export async function evaluate(parts: Parts): Promise<Record<string, number>> {
  const { heldOut, config } = parts;
  if (heldOut.length === 0) return {};
  const { evaluation } = parts.sources;
  // Nothing is said about the steps of greedy responses.
  const unscored = { ...evaluation, scorer: undefined };
  const greedy = await respond(parts, unscored, heldOut, { n: 1, temperature: 0 });
  const sampled = await respond(parts, evaluation, heldOut, {
    n: config.eval.samples,
    temperature: config.rollout.temperature,
  });
  const { rollouts, rewards, sequences } = sampled;
  const lengths = rowsOf(rollouts.tokens.offsets, (from, to) => to - from);
  return {
    ...resultOf("greedy", greedy.rewards),
    ...resultOf("sampled", rewards),
    "eval/steps": meanOf(rowsOf(rewards.stepEnds.offsets, (from, to) => to - from)),
    "eval/tokens": meanOf(lengths),
    "eval/clip_ratio": 1 - meanOf(rollouts.stopped),
    ...lowestStep(rewards),
    ...(await divergence(parts, sequences)),
  };
}

async function respond(
  { config, generator, codec, stopIds }: Parts,
  sources: RewardSources,
  prompts: readonly PromptRow[],
  { n, temperature }: { readonly n: number; readonly temperature: number },
) {
  const { rollout, seed } = config;
  const rollouts = await rollOut(generator, codec, {
    prompts,
    n,
    temperature,
    firstSample: 0,
    maxTokens: rollout.maxTokens,
    topK: rollout.topK,
    topP: rollout.topP,
    minP: rollout.minP,
    stop: rollout.stop,
    stopIds,
    seed: seed + STREAM,
  });
  const sequences = new Sequences(rollouts);
  return { rollouts, sequences, rewards: await scoreRollouts(sources, rollouts, sequences, () => true) };
}

function resultOf(how: string, { verified, tokens }: Rewards): Record<string, number> {
  const right = meanOf(verified);
  return {
    ...(Number.isNaN(right) ? {} : { [`eval/pass@1/${how}`]: right }),
    ...(tokens === undefined
      ? {}
      : {
          [`eval/reward/${how}`]:
            tokens.data.reduce((sum, value) => sum + value, 0) / (tokens.offsets.length - 1),
        }),
  };
}

function lowestStep({ steps }: Rewards): Record<string, number> {
  if (steps === undefined) return {};
  const lowest = rowsOf(steps.offsets, (from, to) => Math.min(...steps.data.subarray(from, to)));
  const mean = meanOf(lowest.filter((value) => value !== Infinity)); // of no step
  return Number.isNaN(mean) ? {} : { "eval/prm": mean };
}

async function divergence(
  { reference, model, config }: Parts,
  sequences: Sequences,
): Promise<Record<string, number>> {
  if (reference === undefined) return {};
  const settings = { budget: config.actor.microBatchTokens, temperature: config.rollout.temperature };
  const { data, offsets } = await responseLogProbs(model, sequences, settings);
  const { data: other } = await responseLogProbs(reference, sequences, settings);
  const rows = offsets.length - 1;
  return { "eval/kl": data.reduce((sum, value, i) => sum + value - other[i]!, 0) / rows };
}

function rowsOf(offsets: Int32Array, read: (from: number, to: number) => number): number[] {
  return Array.from({ length: offsets.length - 1 }, (_, row) => read(offsets[row]!, offsets[row + 1]!));
}
