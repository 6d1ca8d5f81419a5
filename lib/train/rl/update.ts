import type { Ragged } from "../../ragged.ts";
import type { TrainConfig } from "../config/schema.ts";
import type { TrainableModel } from "../engine/model.ts";
import type { Optimizer } from "../engine/optimizer.ts";
import { adamStep } from "../run/adam.ts";
import { type ValueData, valueDataOf, valueTerm } from "./critic.ts";
import { Means } from "./means.ts";
import { MiniBatchCount, miniBatches } from "./mini-batches.ts";
import { dataOf, type PolicyData, policyTerms } from "./policy-terms.ts";
import type { MicroBatch, Sequences } from "./sequences.ts";

/** @internal What an update learns from. */
export interface UpdateBatch {
  readonly sequences: Sequences;
  readonly promptOf: Int32Array;
  readonly policy: PolicyData;
  /** Of a critic that shares the policy's model. */
  readonly shared?: ValueData | undefined;
  /** Factor of the KL penalty in the loss; 0 for none. */
  readonly klCoefficient: number;
}

/** @internal The policy's part of a step: epochs over mini-batches. Returns `actor/...` metrics. */
export async function updatePolicy(
  model: TrainableModel,
  optimizer: Optimizer,
  config: TrainConfig,
  batch: UpdateBatch,
  step: number,
): Promise<Record<string, number>> {
  const { actor } = config;
  const { sequences, promptOf } = batch;
  const means = new Means();
  for (const rows of miniBatches(sequences.rows, config, actor, step)) {
    const count = new MiniBatchCount(rows, sequences, promptOf, batch.policy.mask?.data);
    if (count.isEmpty) continue;
    const losses: Record<string, number> = {};
    for (const micro of sequences.micro(rows, actor.microBatchTokens)) {
      const parts = await learn(model, config, batch, micro, count, means);
      for (const [name, part] of Object.entries(parts)) losses[name] = (losses[name] ?? 0) + part;
    }
    for (const [name, loss] of Object.entries(losses)) means.add(name, loss);
    const { lr, grad_norm } = adamStep(optimizer, actor, step, config.steps);
    means.add("actor/grad_norm", grad_norm);
    means.keep("max", "actor/lr", lr);
  }
  return means.metrics();
}

// Adds the gradients of a micro-batch; returns its parts of the losses.
async function learn(
  model: TrainableModel,
  config: TrainConfig,
  batch: UpdateBatch,
  micro: MicroBatch,
  count: MiniBatchCount,
  means: Means,
): Promise<Readonly<Record<string, number>>> {
  const { actor, rollout } = config;
  const { rows, reads, targets, offsets } = micro;
  const pass = await model.forward(micro.batch, { keep: config.model.keep });
  const of = await pass.logProbs(reads, targets, { temperature: rollout.temperature, entropy: true });
  const now = { logProbs: { data: of.logProbs, offsets }, entropy: { data: of.entropy!, offsets } };
  const data = dataOf(batch.policy, rows);
  const denominator = count.of(rows, actor.aggregation);
  const terms = policyTerms(config, batch.klCoefficient, now, data, denominator);
  const { gradLogProbs, gradEntropy } = terms;
  const value =
    batch.shared && (await sharedValue(pass, config, batch.shared, micro, data.mask, count, means));
  await pass.backward({
    logProbs: [{ of, gradLogProbs, ...(gradEntropy === undefined ? {} : { gradEntropy }) }],
    ...(value === undefined ? {} : { readouts: [{ head: "value", reads, grad: value.gradient }] }),
  });
  addStats(means, terms);
  return value === undefined ? terms.losses : { ...terms.losses, "critic/vf_loss": value.loss };
}

async function sharedValue(
  pass: Awaited<ReturnType<TrainableModel["forward"]>>,
  { actor, critic }: TrainConfig,
  data: ValueData,
  { rows, reads, offsets }: MicroBatch,
  mask: Ragged<Uint8Array> | undefined,
  count: MiniBatchCount,
  means: Means,
) {
  const values = { data: await pass.readout("value", reads), offsets };
  const denominator = count.of(rows, actor.aggregation);
  const term = valueTerm(critic, critic.coefficient, values, valueDataOf(data, rows), mask, denominator);
  means.add("critic/vf_clipfrac", term.clipFraction, term.tokens);
  return term;
}

function addStats(means: Means, { stats, meanEntropy }: ReturnType<typeof policyTerms>): void {
  const { tokens = 0, clipFraction, clipFractionLower, approxKl, minRatio, maxRatio } = stats;
  means.add("actor/entropy", meanEntropy, tokens);
  if (approxKl === undefined) return;
  means.add("actor/ppo_kl", approxKl, tokens);
  means.add("actor/pg_clipfrac", clipFraction!, tokens);
  means.add("actor/pg_clipfrac_lower", clipFractionLower!, tokens);
  means.keep("max", "actor/ratio/max", maxRatio!);
  means.keep("min", "actor/ratio/min", minRatio!);
}
