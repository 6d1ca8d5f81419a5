import { reinforceLoss } from "../../loss/index.ts";
import { joinRows, packRows } from "../batches.ts";
import type { SftRow } from "../data/sft.ts";
import type { TrainableModel } from "../engine/model.ts";

interface MicroBatch {
  readonly batch: ReturnType<typeof joinRows>;
  /** Tokens whose successors belong to completions, and these. */
  readonly reads: Int32Array;
  readonly targets: Int32Array;
}

/** @internal Tokens of completions: what the loss is a mean over. */
export function countTargets(rows: readonly SftRow[]): number {
  return rows.reduce((sum, { completion }) => sum + completion.length, 0);
}

/**
 * @internal Adds the gradient of the mean of -log p over the completion tokens of a batch. The mean is over the whole
 * batch, whatever the micro-batches are.
 *
 * @param budget - tokens of a micro-batch
 * @returns the loss
 */
export async function sftGradients(
  model: TrainableModel,
  rows: readonly SftRow[],
  { budget, keep }: { budget: number; keep: "activations" | "inputs" },
): Promise<number> {
  const denominator = countTargets(rows);
  let loss = 0;
  for (const { batch, reads, targets } of microBatches(rows, budget)) {
    const pass = await model.forward(batch, { keep });
    const of = await pass.logProbs(reads, targets);
    const part = negativeLogLikelihood(of.logProbs, denominator);
    loss += part.loss;
    await pass.backward({ logProbs: [{ of, gradLogProbs: part.gradLogProbs.data }] });
  }
  return loss;
}

/** @internal The mean of -log p over the completion tokens of rows; no gradient. */
export async function sftLoss(
  model: TrainableModel,
  rows: readonly SftRow[],
  budget: number,
): Promise<number> {
  const denominator = countTargets(rows);
  let loss = 0;
  for (const { batch, reads, targets } of microBatches(rows, budget)) {
    const pass = await model.forward(batch, { keep: "nothing" });
    const { logProbs } = await pass.logProbs(reads, targets);
    loss += negativeLogLikelihood(logProbs, denominator).loss;
  }
  return loss;
}

/** @internal `-sum log p / denominator` and its gradient: REINFORCE with an advantage of 1. */
export function negativeLogLikelihood(logProbs: Float32Array, denominator: number) {
  const offsets = Int32Array.of(0, logProbs.length);
  return reinforceLoss(
    {
      logProbs: { data: logProbs, offsets },
      advantages: { data: new Float32Array(logProbs.length).fill(1), offsets },
    },
    { denominator },
  );
}

function* microBatches(rows: readonly SftRow[], budget: number): Generator<MicroBatch> {
  const sequences = rows.map(({ prompt, completion }) => {
    const ids = new Int32Array(prompt.length + completion.length);
    ids.set(prompt);
    ids.set(completion, prompt.length);
    return ids;
  });
  const ranges = packRows(
    sequences.map((ids) => ids.length),
    budget,
  );
  for (const { from, to } of ranges) {
    const batch = joinRows(sequences.slice(from, to));
    const reads: number[] = [];
    for (let row = from; row < to; row++) {
      const start = batch.offsets[row - from]! + rows[row]!.prompt.length - 1;
      for (let i = 0; i < rows[row]!.completion.length; i++) reads.push(start + i);
    }
    const at = Int32Array.from(reads);
    yield { batch, reads: at, targets: at.map((read) => batch.data[read + 1]!) };
  }
}
