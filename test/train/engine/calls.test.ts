// A model holds one pass: of calls under way at once the later one takes its place, and the earlier says so.
import { expect, test } from "vitest";
import { createModel } from "../../../lib/train/engine/index.ts";
import { expectSameBits } from "../../support/compare.ts";
import { ints } from "../../support/ragged.ts";
import { TINY_QWEN3 } from "../../support/tiny-model.ts";

const model = createModel({ ...TINY_QWEN3, vocab_size: 19 }, { heads: { lm: true } });
const batch = (salt: number) => ints([Array.from({ length: 40 }, (_, i) => (i * 7 + salt) % 19)]);
const reads = Int32Array.of(5, 30);
const targets = Int32Array.of(3, 4);
const ENDED = /^ERR_CLOSED the pass has ended/;

async function score(salt: number): Promise<Float32Array> {
  const pass = await model.forward(batch(salt));
  return (await pass.logProbs(reads, targets)).logProbs;
}

async function startBackward(salt: number) {
  const pass = await model.forward(batch(salt));
  const of = await pass.logProbs(reads, targets);
  const input = { logProbs: [{ of, gradLogProbs: Float32Array.of(1, -2) }] };
  return { pass, input, done: outcome(pass.backward(input)) };
}

const outcome = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: { code: string; message: string }) => `${error.code} ${error.message}`,
  );

test("of two forwards at once the later one has the model", async () => {
  const alone = await score(1);
  const earlier = outcome(score(0));
  expectSameBits(await score(1), alone);
  expect(await earlier).toMatch(ENDED);
});

test("a generation takes the place of a forward under way", async () => {
  const earlier = outcome(score(0));
  await model.generate(batch(1), { maxTokens: 3 });
  expect(await earlier).toMatch(ENDED);
});

test("a forward in the middle of a backward pass ends it, and is itself whole", async () => {
  const alone = await score(1);
  const { done } = await startBackward(0);
  expectSameBits(await score(1), alone);
  expect(await done).toMatch(ENDED);
});

test("a pass goes back once: what is asked of it meanwhile is refused, and the gradients are whole", async () => {
  model.clearGradients();
  await (await startBackward(0)).done;
  const alone = model.trainable().map(({ grad }) => grad!.slice());
  model.clearGradients();
  const { pass, input, done } = await startBackward(0);
  expect(await outcome(pass.backward(input))).toMatch(ENDED);
  expect(await outcome(pass.logProbs(reads, targets))).toMatch(ENDED);
  expect(await done).toBe("done");
  for (const [i, { grad }] of model.trainable().entries()) expectSameBits(grad!, alone[i]!);
});
