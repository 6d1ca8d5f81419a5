import { valueLoss } from "../../loss/index.ts";
import type { Ragged } from "../../ragged.ts";
import type { TrainConfig } from "../config/schema.ts";
import type { TrainableModel } from "../engine/model.ts";
import type { Optimizer } from "../engine/optimizer.ts";
import { Means } from "./means.ts";
import { type Denominator, MiniBatchCount, miniBatches } from "./mini-batches.ts";
import { adamStep } from "../run/adam.ts";
import { type Sequences, takeRows } from "./sequences.ts";

/** @internal What a critic learns from, per response token. */
export interface ValueData {
  /** Values before the update. */
  readonly values: Ragged<Float32Array>;
  readonly returns: Ragged<Float32Array>;
}

/** @internal The same of some rows. */
export function valueDataOf({ values, returns }: ValueData, rows: Int32Array): ValueData {
  return { values: takeRows(values, rows), returns: takeRows(returns, rows) };
}

/** @internal The value loss of a micro-batch, times a factor in its gradient. */
export function valueTerm(
  { clipRange }: TrainConfig["critic"],
  factor: number,
  values: Ragged<Float32Array>,
  before: ValueData,
  mask: Ragged<Uint8Array> | undefined,
  denominator: Denominator,
) {
  const { loss, gradValues, stats } = valueLoss(
    { values, oldValues: before.values, returns: before.returns, ...(mask && { mask: mask.data }) },
    {
      ...denominator,
      denominator: denominator.denominator / factor,
      ...(clipRange === undefined ? {} : { clipRange }),
    },
  );
  return {
    loss: loss / factor,
    gradient: gradValues.data,
    clipFraction: stats.clipFraction,
    tokens: stats.tokens,
  };
}

/** @internal The critic's part of a step, when it is a model of its own. Returns `critic/...` metrics. */
export async function updateCritic(
  model: TrainableModel,
  optimizer: Optimizer,
  config: TrainConfig,
  batch: {
    readonly sequences: Sequences;
    readonly promptOf: Int32Array;
    readonly data: ValueData;
    readonly mask: Ragged<Uint8Array> | undefined;
  },
  step: number,
): Promise<Record<string, number>> {
  const { critic, actor } = config;
  const { sequences, promptOf, data, mask } = batch;
  const means = new Means();
  for (const rows of miniBatches(sequences.rows, config, critic, step)) {
    const count = new MiniBatchCount(rows, sequences, promptOf, mask?.data);
    if (count.isEmpty) continue;
    let total = 0;
    for (const micro of sequences.micro(rows, actor.microBatchTokens)) {
      const pass = await model.forward(micro.batch, { keep: config.model.keep });
      const values = { data: await pass.readout("value", micro.reads), offsets: micro.offsets };
      const masked = mask && takeRows(mask, micro.rows);
      const denominator = count.of(micro.rows, "token-mean");
      const term = valueTerm(critic, 1, values, valueDataOf(data, micro.rows), masked, denominator);
      await pass.backward({ readouts: [{ head: "value", reads: micro.reads, grad: term.gradient }] });
      means.add("critic/vf_clipfrac", term.clipFraction, term.tokens);
      total += term.loss;
    }
    means.add("critic/vf_loss", total);
    const { lr, grad_norm } = adamStep(optimizer, critic, step, config.steps);
    means.add("critic/grad_norm", grad_norm);
    means.keep("max", "critic/lr", lr);
  }
  return means.metrics();
}
