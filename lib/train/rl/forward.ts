import { joinRows, packRows } from "../batches.ts";
import type { Ragged } from "../../ragged.ts";
import type { TrainableModel } from "../engine/model.ts";
import { type MicroBatch, putRows, type Sequences } from "./sequences.ts";

/** @internal Options of passes that nothing is learned from. */
export interface ForwardSettings {
  /** Tokens of a pass. */
  readonly budget: number;
}

type VocabularySettings = ForwardSettings & { readonly temperature: number };

/** @internal Log-prob of every response token, in the rows of the responses. */
export function responseLogProbs(
  model: TrainableModel,
  sequences: Sequences,
  settings: VocabularySettings,
): Promise<Ragged<Float32Array>> {
  return overVocabulary(model, sequences, settings, "logProbs");
}

/** @internal Sum of the squared probabilities of every distribution that a response token was drawn from. */
export function responseSumSquaredProbs(
  model: TrainableModel,
  sequences: Sequences,
  settings: VocabularySettings,
): Promise<Ragged<Float32Array>> {
  return overVocabulary(model, sequences, settings, "sumSquaredProbs");
}

function overVocabulary(
  model: TrainableModel,
  sequences: Sequences,
  { budget, temperature }: VocabularySettings,
  output: "logProbs" | "sumSquaredProbs",
): Promise<Ragged<Float32Array>> {
  return collect(sequences, budget, async ({ batch, reads, targets }) => {
    const pass = await model.forward(batch, { keep: "nothing" });
    const options = { temperature, sumSquaredProbs: output === "sumSquaredProbs" };
    return (await pass.logProbs(reads, targets, options))[output]!;
  });
}

/** @internal Value of the state before every response token, in the rows of the responses. */
export async function responseValues(
  model: TrainableModel,
  sequences: Sequences,
  { budget }: ForwardSettings,
): Promise<Ragged<Float32Array>> {
  return collect(sequences, budget, async ({ batch, reads }) => {
    const pass = await model.forward(batch, { keep: "nothing" });
    return pass.readout("value", reads);
  });
}

/** @internal Value of the state after the last token of some rows. */
export async function lastValues(
  model: TrainableModel,
  sequences: Sequences,
  rows: ArrayLike<number>,
  { budget }: ForwardSettings,
): Promise<Float32Array> {
  const out = new Float32Array(rows.length);
  const inputs = Array.from(rows, (row) => sequences.ids[row]!);
  const ranges = packRows(
    inputs.map((ids) => ids.length),
    budget,
  );
  for (const { from, to } of ranges) {
    const batch = joinRows(inputs.slice(from, to));
    const pass = await model.forward(batch, { keep: "nothing" });
    const ends = batch.offsets.slice(1).map((end) => end - 1);
    out.set(await pass.readout("value", ends), from);
  }
  return out;
}

async function collect(
  sequences: Sequences,
  budget: number,
  read: (micro: MicroBatch) => Promise<Float32Array>,
): Promise<Ragged<Float32Array>> {
  const { data, offsets } = sequences.tokens;
  const out = { data: new Float32Array(data.length), offsets };
  for (const micro of sequences.micro(sequences.all(), budget)) {
    putRows(out, micro.rows, { data: await read(micro), offsets: micro.offsets });
  }
  return out;
}
