// Rows that begin other rows go through the model as part of them: what comes out of it must stay what it was.
import { expect, test } from "vitest";
import { ragged } from "../../../lib/ragged.ts";
import { createModel } from "../../../lib/train/engine/index.ts";
import { randomStream } from "../../../lib/train/arithmetic/random.ts";
import { joinRows } from "../../../lib/train/batches.ts";
import type { PromptRow } from "../../../lib/train/data/prompts.ts";
import { lastValues } from "../../../lib/train/rl/forward.ts";
import { type MicroBatch, Sequences } from "../../../lib/train/rl/sequences.ts";
import { expectSameBits } from "../../support/compare.ts";
import { TINY_QWEN3 } from "../../support/tiny-model.ts";

const CONFIG = { ...TINY_QWEN3, vocab_size: 8, max_position_embeddings: 64 };
const model = createModel(CONFIG, { heads: { lm: true, value: true }, seed: 3 });

// Two prompts, and short responses of three tokens, many of which are alike or begin others.
const random = randomStream(5);
const prompts = [[4, 5, 6], [7]].map(
  (ids, i): PromptRow => ({ id: `${i}`, text: "", ids: Int32Array.from(ids), answer: null }),
);
const promptOf = Int32Array.from({ length: 40 }, (_, row) => (row < 20 ? 0 : 1));
const responses = Array.from(promptOf, () =>
  Array.from({ length: 1 + Math.floor(5 * random()) }, () => Math.floor(3 * random())),
);
const sequences = new Sequences({ prompts, promptOf, tokens: ragged(responses, "int32") });
const rows = sequences.all();
const [shared] = [...sequences.micro(rows, 10_000)] as [MicroBatch];

/** The same rows, each going through on its own. */
function alone(): Pick<MicroBatch, "batch" | "reads" | "targets"> {
  const batch = joinRows(sequences.ids);
  const reads = responses.flatMap((tokens, row) =>
    tokens.map((_, k) => batch.offsets[row]! + sequences.promptLength(row) + k - 1),
  );
  return { batch, reads: Int32Array.from(reads), targets: Int32Array.from(responses.flat()) };
}

// A gradient for everything that an update asks of a pass, another one for every token.
async function learn({ batch, reads, targets }: ReturnType<typeof alone>) {
  model.clearGradients();
  const wave = (step: number) => Float32Array.from(reads, (_, i) => Math.sin(step * i + 1) / 100);
  const pass = await model.forward(batch);
  const of = await pass.logProbs(reads, targets, { temperature: 0.7, entropy: true });
  const values = await pass.readout("value", reads);
  await pass.backward({
    logProbs: [{ of, gradLogProbs: wave(0.7), gradEntropy: wave(1.3) }],
    readouts: [{ head: "value", reads, grad: wave(2.1) }],
  });
  return { ...of, values, gradients: model.trainable().map(({ grad }) => grad!.slice()) };
}

test("outputs are the same to the bit, and gradients but for rounding", async () => {
  const apart = alone();
  expect(shared.batch.data.length).toBeLessThan(0.5 * apart.batch.data.length);
  expect([...shared.targets]).toEqual([...apart.targets]);
  const [expected, got] = [await learn(apart), await learn(shared)];
  expectSameBits(got.logProbs, expected.logProbs);
  expectSameBits(got.entropy!, expected.entropy!);
  expectSameBits(got.values, expected.values);
  for (const [i, grad] of got.gradients.entries()) {
    const size = Math.hypot(...expected.gradients[i]!);
    expect(size).toBeGreaterThan(0);
    expect(Math.hypot(...grad.map((value, j) => value - expected.gradients[i]![j]!))).toBeLessThan(
      1e-6 * size,
    );
  }
});

test("the value after a response is read at its last token, in the order that was asked for", async () => {
  const asked = [31, 2, 17];
  const { batch } = alone();
  const pass = await model.forward(batch, { keep: "nothing" });
  const expected = await pass.readout(
    "value",
    Int32Array.from(asked, (row) => batch.offsets[row + 1]! - 1),
  );
  for (const budget of [1000, 8]) {
    expectSameBits(await lastValues(model, sequences, asked, { budget }), expected);
  }
});
