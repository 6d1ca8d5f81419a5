import type { Ragged } from "../../ragged.ts";
import type { Baselines } from "./advantages.ts";
import { assignCredit } from "./credit.ts";
import { lastValues, responseSumSquaredProbs, responseValues } from "./forward.ts";
import type { Parts } from "./parts.ts";
import { scoreRollouts } from "./rewards.ts";
import { rollOut } from "./rollout.ts";
import { Sequences } from "./sequences.ts";
import { outcomes } from "./token-rewards.ts";
import type { Rollouts } from "./types.ts";

/** @internal What the estimator of the config needs besides rewards. */
export async function baselinesOf(
  parts: Parts,
  rollouts: Rollouts,
  sequences: Sequences,
  oldLogProbs: Ragged<Float32Array>,
): Promise<Baselines> {
  const { critic, config } = parts;
  const groups = rollouts.promptOf;
  if (config.algorithm.estimator === "remax") {
    const best = await greedyOutcomes(parts, rollouts.prompts);
    return { groups, greedy: Float32Array.from(groups, (prompt) => best[prompt]!) };
  }
  const settings = { budget: config.actor.microBatchTokens };
  if (config.algorithm.estimator === "optimal-token-baseline") {
    const { temperature } = config.rollout;
    const sums = await responseSumSquaredProbs(parts.model, sequences, { ...settings, temperature });
    return { groups, policy: { logProbs: oldLogProbs, sumSquaredProbs: sums } };
  }
  if (critic === undefined) return { groups };
  const values = await responseValues(critic.model, sequences, settings);
  if (!config.algorithm.bootstrapTruncated) return { groups, values };
  const cut = Array.from(rollouts.stopped.keys()).filter((row) => rollouts.stopped[row] === 0);
  const bootstrap = new Float32Array(rollouts.stopped.length);
  if (cut.length > 0) {
    const last = await lastValues(critic.model, sequences, cut, settings);
    cut.forEach((row, i) => {
      bootstrap[row] = last[i]!;
    });
  }
  return { groups, values, bootstrap };
}

// ReMax: what the likeliest response to each prompt is worth; 0 where nothing is known about it.
async function greedyOutcomes(parts: Parts, prompts: Rollouts["prompts"]): Promise<Float32Array> {
  const { config, generator, codec, stopIds } = parts;
  const { maxTokens, stop } = config.rollout;
  const request = { prompts, n: 1, firstSample: 0, temperature: 0, maxTokens, stop, stopIds, seed: 0 };
  const rollouts = await rollOut(generator, codec, request);
  const rewards = await scoreRollouts(parts.sources.training, rollouts, new Sequences(rollouts), parts.known);
  const credit = rewards.steps && assignCredit(rewards.steps, rewards.stepEnds, config.reward);
  const { offsets } = rollouts.tokens;
  const values = outcomes({ config, offsets, rewards, credit, kl: undefined, mask: undefined });
  return values.map((value) => (Number.isNaN(value) ? 0 : value));
}
