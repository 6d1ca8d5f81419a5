// Bad input is an error that names what, and a pass that has ended says so.
import { expect, test } from "vitest";
import { createModel, type TrainableModel } from "../../../lib/train/engine/index.ts";
import { ints } from "../../support/ragged.ts";

const CONFIG = {
  model_type: "llama",
  vocab_size: 7,
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  max_position_embeddings: 10,
};
const model: TrainableModel = createModel(CONFIG, { heads: { lm: true } });
const batch = ints([[1, 2, 3], [4]]);
const reads = Int32Array.of(0, 1);
const targets = Int32Array.of(2, 3);

async function failure(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    return `${(error as { code: string }).code} ${(error as Error).message}`;
  }
  return "no error";
}

test.each<[string, () => unknown, RegExp]>([
  ["no head", () => createModel(CONFIG, { heads: {} }), /ERR_ARGUMENT_VALUE heads: expected at least one/],
  [
    "bad config",
    () => createModel({ model_type: "gpt2" }, { heads: { lm: true } }),
    /ERR_INPUT .*model_type/,
  ],
  [
    "bad id",
    () => model.forward(ints([[1, 7]])),
    /ERR_ARGUMENT_VALUE batch\.data\[1\]: expected \[0, 7\), got 7/,
  ],
  ["empty batch", () => model.forward(ints([[]])), /ERR_SHAPE batch: expected at least one token/],
  [
    "too long",
    () => model.forward(ints([new Array(11).fill(1)])),
    /ERR_SHAPE batch: expected at most 10 tokens in row 0, got 11/,
  ],
  [
    "too much to write",
    () => model.generate(batch, { maxTokens: 8 }),
    /ERR_SHAPE prompts: .*row 0 with those to write, got 11/,
  ],
  [
    "empty prompt",
    () => model.generate(ints([[1], []]), { maxTokens: 2 }),
    /ERR_SHAPE prompts: .*row 1, got none/,
  ],
  [
    "bad temperature",
    () => model.generate(batch, { maxTokens: 2, temperature: -1 }),
    /ERR_ARGUMENT_VALUE temperature/,
  ],
  ["bad topP", () => model.generate(batch, { maxTokens: 2, topP: 0 }), /ERR_ARGUMENT_VALUE topP/],
  [
    "bad stop",
    () => model.generate(batch, { maxTokens: 2, stopIds: [9] }),
    /ERR_ARGUMENT_VALUE stopIds\[0\]/,
  ],
  [
    "missing head",
    async () => (await model.forward(batch)).readout("value", reads),
    /ERR_ARGUMENT_VALUE heads\.value/,
  ],
  [
    "bad read",
    async () => (await model.forward(batch)).logProbs(Int32Array.of(4), Int32Array.of(0)),
    /reads\[0\]: expected \[0, 4\), got 4/,
  ],
  [
    "bad target",
    async () => (await model.forward(batch)).logProbs(Int32Array.of(0), Int32Array.of(-1)),
    /targets\[0\]/,
  ],
])("%s", async (_, call, message) => {
  expect(await failure(call)).toMatch(message);
});

test("a pass ends with the next one, with its backward pass, and without activations there is none", async () => {
  const first = await model.forward(batch);
  await model.forward(batch);
  expect(await failure(() => first.logProbs(reads, targets))).toMatch(/ERR_CLOSED the pass has ended/);
  const second = await model.forward(batch, { keep: "nothing" });
  const of = await second.logProbs(reads, targets);
  const gradLogProbs = Float32Array.of(1, 1);
  expect(await failure(() => second.backward({ logProbs: [{ of, gradLogProbs }] }))).toMatch(/"nothing"/);
  const third = await model.forward(batch);
  const again = await third.logProbs(reads, targets);
  await third.backward({ logProbs: [{ of: again, gradLogProbs }] });
  expect(await failure(() => third.backward({ logProbs: [{ of: again, gradLogProbs }] }))).toMatch(
    /ERR_CLOSED/,
  );
});

test("NaN: in upstream gradients nothing changes, in weights the row is named", async () => {
  const pass = await model.forward(batch);
  const of = await pass.logProbs(reads, targets);
  const gradLogProbs = Float32Array.of(1, Number.NaN);
  expect(await failure(() => pass.backward({ logProbs: [{ of, gradLogProbs }] }))).toMatch(
    /gradLogProbs: .* at 1, got NaN/,
  );
  const broken = createModel(CONFIG, { heads: { lm: true, value: true } });
  broken.parameters.get("model.norm.weight")!.data[0] = Number.NaN;
  const bad = await broken.forward(batch);
  expect(await failure(() => bad.logProbs(reads, targets))).toMatch(/ERR_NOT_FINITE logProbs: .* token 0/);
  expect(await failure(() => bad.readout("value", reads))).toMatch(
    /ERR_NOT_FINITE readout: .* NaN at token 0/,
  );
  expect(await failure(() => broken.generate(batch, { maxTokens: 2 }))).toMatch(
    /ERR_NOT_FINITE generate: .*prompt 0/,
  );
});

test("an abort rejects with its reason and leaves the model usable", async () => {
  const reason = new Error("enough");
  expect(
    await model.generate(batch, { maxTokens: 5, signal: AbortSignal.abort(reason) }).catch((e) => e),
  ).toBe(reason);
  const controller = new AbortController();
  const long = model.generate(batch, { samples: 4000, maxTokens: 7, batch: 8, signal: controller.signal });
  controller.abort(reason);
  expect(await long.catch((error) => error)).toBe(reason);
  expect((await model.generate(batch, { maxTokens: 3 })).tokens.offsets.length).toBe(3);
});
