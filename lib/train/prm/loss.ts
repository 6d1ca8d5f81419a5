import { tokenLogProbs, tokenLogProbsBackward } from "../../logprob/index.ts";
import { joinRows, packRows } from "../batches.ts";
import type { TrainableModel } from "../engine/model.ts";
import { negativeLogLikelihood } from "../sft/loss.ts";
import type { EncodedSolution } from "./solutions.ts";

/** @internal Labelled steps of solutions: what the loss is a mean over. */
export function countLabels(rows: readonly EncodedSolution[]): number {
  return rows.reduce((sum, { labels }) => sum + labels.filter((label) => label !== null).length, 0);
}

/**
 * @internal Adds the gradient of the cross-entropy of the labels, read at the separators: the mean over the labelled
 * steps of the whole batch, whatever the micro-batches are.
 *
 * @param budget - tokens of a micro-batch
 * @returns the loss
 */
export async function prmGradients(
  model: TrainableModel,
  rows: readonly EncodedSolution[],
  { budget, keep }: { budget: number; keep: "activations" | "inputs" },
): Promise<number> {
  const denominator = countLabels(rows);
  const ranges = packRows(
    rows.map(({ ids }) => ids.length),
    budget,
  );
  let loss = 0;
  for (const { from, to } of ranges) {
    const part = rows.slice(from, to);
    const batch = joinRows(part.map(({ ids }) => ids));
    const { reads, targets } = labelledReads(part, batch.offsets);
    if (reads.length === 0) continue;
    const pass = await model.forward(batch, { keep });
    const logits = {
      type: "float32" as const,
      data: (await pass.readout("classifier", reads)) as Float32Array<ArrayBuffer>,
      dims: [reads.length, 2],
    };
    const forward = await tokenLogProbs(logits, targets, { entropy: false });
    const { loss: share, gradLogProbs } = negativeLogLikelihood(forward.logProbs, denominator);
    loss += share;
    const grad = await tokenLogProbsBackward(logits, targets, forward, { gradLogProbs: gradLogProbs.data });
    await pass.backward({ readouts: [{ head: "classifier", reads, grad: grad.data }] });
  }
  return loss;
}

function labelledReads(rows: readonly EncodedSolution[], offsets: Int32Array) {
  const reads: number[] = [];
  const targets: number[] = [];
  rows.forEach(({ ends, labels }, row) => {
    labels.forEach((label, k) => {
      if (label === null) return;
      reads.push(offsets[row]! + ends[k]!);
      targets.push(label ? 1 : 0);
    });
  });
  return { reads: Int32Array.from(reads), targets: Int32Array.from(targets) };
}
