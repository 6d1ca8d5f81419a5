import { klPenalty } from "../../loss/index.ts";
import type { Ragged } from "../../ragged.ts";
import { estimateAdvantages, scoresOf } from "./advantages.ts";
import { baselinesOf } from "./baselines.ts";
import { correct } from "./correction.ts";
import { assignCredit } from "./credit.ts";
import { updateCritic } from "./critic.ts";
import { responseLogProbs } from "./forward.ts";
import { leftOut } from "./mask.ts";
import { responseMetrics, rewardMetrics, valueMetrics } from "./metrics.ts";
import type { Parts } from "./parts.ts";
import { type RolloutRecord, rolloutRecords } from "./records.ts";
import { type Rewards, scoreRollouts } from "./rewards.ts";
import { rollOut } from "./rollout.ts";
import { Sequences } from "./sequences.ts";
import { Timer } from "./timer.ts";
import type { Rollouts } from "./types.ts";
import { updatePolicy } from "./update.ts";

/** @internal What a step gives. */
export interface StepResult {
  readonly metrics: Record<string, number>;
  readonly records: readonly RolloutRecord[];
  readonly rollouts: Rollouts;
  readonly rewards: Rewards;
  /** Reward of every response, without a penalty; NaN where it has none. */
  readonly scores: Float32Array;
}

/** @internal One step: rollouts, rewards, advantages, updates. Everything drawn depends on seed and step alone. */
export async function trainStep(parts: Parts, step: number): Promise<StepResult> {
  const { config, model, generator, codec, reference, critic } = parts;
  const { rollout, actor, kl, log } = config;
  const timer = new Timer();
  const began = performance.now();
  const prompts = parts.sampler.next(rollout.prompts);
  const rollouts = await timer.time("gen", () => rollOut(generator, codec, requestOf(parts, prompts, step)));
  const sequences = new Sequences(rollouts);
  const rewards = await timer.time("reward", () =>
    scoreRollouts(parts.sources.training, rollouts, sequences, parts.known),
  );
  reportPasses(parts, rollouts, rewards);
  const settings = { budget: actor.microBatchTokens, temperature: rollout.temperature };
  const isCorrected = config.correction.kind !== "none";
  const oldLogProbs =
    generator.exact && !isCorrected
      ? rollouts.logProbs
      : await timer.time("old_log_prob", () => responseLogProbs(model, sequences, settings));
  const refLogProbs =
    reference === undefined || kl.place === "none"
      ? undefined
      : await timer.time("ref", () => responseLogProbs(reference, sequences, settings));
  const mask = leftOut(config, rollouts, rewards);
  const correction = correct(config.correction, oldLogProbs, rollouts.logProbs, mask);
  const baselines = await timer.time("values", () => baselinesOf(parts, rollouts, sequences, oldLogProbs));
  const penalty = refLogProbs && klValues(parts, oldLogProbs, refLogProbs, mask);
  const { credit, scored, estimate } = await timer.time("adv", () => {
    const credit = rewards.steps && assignCredit(rewards.steps, rewards.stepEnds, config.reward);
    const inReward =
      kl.place === "reward" && penalty
        ? { values: penalty.values, coefficient: parts.kl.coefficient }
        : undefined;
    const scored = {
      config,
      offsets: rollouts.tokens.offsets,
      rewards,
      credit,
      kl: inReward,
      mask: mask?.data,
    };
    return { credit, scored, estimate: estimateAdvantages(scored, baselines) };
  });
  const { advantages, returns } = estimate;
  const values = baselines.values;
  const criticMetrics =
    critic?.optimizer === undefined || values === undefined
      ? {}
      : await timer.time("update_critic", () =>
          updateCritic(
            critic.model,
            critic.optimizer!,
            config,
            { sequences, promptOf: rollouts.promptOf, data: { values, returns }, mask },
            step,
          ),
        );
  const actorMetrics =
    critic?.optimizer !== undefined && step <= config.critic.warmupSteps
      ? {}
      : await timer.time("update_actor", () =>
          updatePolicy(
            model,
            parts.optimizer,
            config,
            {
              sequences,
              promptOf: rollouts.promptOf,
              policy: { advantages, oldLogProbs, refLogProbs, weights: correction?.weights, mask },
              shared: critic?.optimizer === undefined && values ? { values, returns } : undefined,
              klCoefficient: kl.place === "loss" ? parts.kl.coefficient : 0,
            },
            step,
          ),
        );
  await parts.generator.sync?.(model);
  const scores = scoresOf(scored);
  const metrics = {
    ...rewardMetrics(rewards, credit, scores, estimate),
    ...responseMetrics(rollouts, rewards),
    ...(values === undefined ? {} : valueMetrics(values, returns)),
    ...criticMetrics,
    ...actorMetrics,
    ...correction?.metrics,
    ...(penalty === undefined ? {} : { "actor/kl": penalty.mean, "actor/kl_coef": parts.kl.coefficient }),
    ...throughput(timer, began, sequences),
  };
  if (penalty !== undefined) parts.kl.update(penalty.mean, sequences.rows);
  const records = rolloutRecords(
    log.rolloutGroups,
    rollouts,
    rewards,
    credit,
    advantages,
    scores.scores,
    codec,
  );
  return { metrics, records, rollouts, rewards, scores: scores.scores };
}

function requestOf({ config, stopIds }: Parts, prompts: Rollouts["prompts"], step: number) {
  const { rollout, seed } = config;
  const { n, maxTokens, temperature, topK, topP, minP, stop } = rollout;
  // Sample numbers go on from step to step: a prompt that comes again gets new responses.
  return {
    prompts,
    n,
    firstSample: (step - 1) * n,
    maxTokens,
    temperature,
    topK,
    topP,
    minP,
    stop,
    stopIds,
    seed,
  };
}

function reportPasses({ sampler }: Parts, { prompts, promptOf }: Rollouts, { verified }: Rewards): void {
  prompts.forEach(({ id }, prompt) => {
    const results = Array.from(verified).filter(
      (value, row) => promptOf[row] === prompt && !Number.isNaN(value),
    );
    if (results.length > 0)
      sampler.report(
        id,
        results.reduce((sum, value) => sum + value, 0),
        results.length,
      );
  });
}

// KL of the policy before the update to the reference: in the reward this is the penalty, else it is watched.
function klValues(
  { config }: Parts,
  logProbs: Ragged<Float32Array>,
  refLogProbs: Ragged<Float32Array>,
  mask: Ragged<Uint8Array> | undefined,
) {
  const { values, sum, count } = klPenalty(
    { logProbs, refLogProbs, ...(mask && { mask: mask.data }) },
    { estimator: config.kl.estimator },
  );
  return { values, mean: count === 0 ? 0 : sum / count };
}

function throughput(timer: Timer, began: number, sequences: Sequences): Record<string, number> {
  const all = sequences.ids.reduce((sum, { length }) => sum + length, 0);
  const seconds = (performance.now() - began) / 1000;
  return {
    ...timer.metrics({ response: sequences.tokens.data.length, all }),
    "timing_s/step": seconds,
    "perf/total_num_tokens": all,
    "perf/throughput": all / seconds,
  };
}
