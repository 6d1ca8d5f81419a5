// Sequences that a question ends while they are written.
import { afterEach, describe, expect, test, vi } from "vitest";
import { row } from "../../../lib/ragged.ts";
import { createModel, type GenerateOptions } from "../../../lib/train/engine/index.ts";
import { expectSameBits } from "../../support/compare.ts";
import { ints } from "../../support/ragged.ts";
import { countWritten } from "../../support/written.ts";

const model = createModel(
  {
    model_type: "llama",
    vocab_size: 19,
    hidden_size: 16,
    intermediate_size: 24,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    max_position_embeddings: 5000,
  },
  { heads: { lm: true }, seed: 3 },
);
const prompts = ints([[1, 2, 3], [7], [4, 4, 4, 4, 9]]);
const options: GenerateOptions = { samples: 5, maxTokens: 150, temperature: 0.9, seed: 11 };

afterEach(() => vi.restoreAllMocks());

describe("isDone", () => {
  // True for one question in five, and for a longer sequence not because it was for a shorter one.
  const isDone = (tokens: Int32Array) => tokens.reduce((sum, token) => sum + token, 0) % 5 === 0;

  test.each([
    { stopIds: [], batch: 1 },
    { stopIds: [], batch: 4 },
    { stopIds: [5], batch: 1 },
    { stopIds: [5], batch: 256 },
  ])("ends sequences at the 16th tokens for which it is true: $stopIds, $batch at a time", async (more) => {
    const whole = await model.generate(prompts, { ...options, ...more, batch: 64 });
    const part = await model.generate(prompts, { ...options, ...more, isDone });
    let ended = 0;
    for (let i = 0; i < whole.stopped.length; i++) {
      const tokens = row(whole.tokens, i);
      const asked = Array.from({ length: Math.floor(tokens.length / 16) }, (_, k) => 16 * (k + 1));
      const end = asked.find((length) => isDone(tokens.subarray(0, length))) ?? tokens.length;
      expectSameBits(row(part.tokens, i), tokens.subarray(0, end));
      expectSameBits(row(part.logProbs, i), row(whole.logProbs, i).subarray(0, end));
      expect(part.stopped[i]).toBe(end < tokens.length ? 0 : whole.stopped[i]);
      if (end < tokens.length) ended++;
    }
    expect(ended).toBeGreaterThan(0);
    expect(ended).toBeLessThan(whole.stopped.length);
  });

  test("is asked about all tokens of a sequence so far, in order, by its row", async () => {
    const asked = new Map<number, number[][]>();
    const { tokens } = await model.generate(prompts, {
      ...options,
      batch: 2,
      isDone: (so, i) => {
        asked.set(i, [...(asked.get(i) ?? []), [...so]]);
        return false;
      },
    });
    for (let i = 0; i < 15; i++) {
      const all = [...row(tokens, i)];
      expect(asked.get(i)).toEqual([16, 32, 48, 64, 80, 96, 112, 128, 144].map((n) => all.slice(0, n)));
    }
  });

  test("spares the rest", async () => {
    const written = countWritten();
    const maxTokens = 4000;
    const { tokens } = await model.generate(prompts, { ...options, maxTokens, batch: 4, isDone: () => true });
    expect([...tokens.offsets]).toEqual(Array.from({ length: 16 }, (_, i) => 16 * i));
    expect(written()).toBeGreaterThanOrEqual(15 * 16);
    expect(written()).toBeLessThan((15 * maxTokens) / 2);
  });

  test("ends the generation with what it throws; the model goes on", async () => {
    const before = await model.generate(prompts, options);
    const cause = new Error("no");
    let questions = 0;
    const failing = model.generate(prompts, {
      ...options,
      maxTokens: 4000,
      isDone: () => {
        questions++;
        throw cause;
      },
    });
    expect(await failing.catch((error: unknown) => error)).toBe(cause);
    expect(questions).toBe(1);
    const after = await model.generate(prompts, options);
    expectSameBits(after.logProbs.data, before.logProbs.data);
  });

  test("is not asked after an abort", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    let questions = 0;
    const aborted = model.generate(prompts, {
      ...options,
      maxTokens: 4000,
      signal: controller.signal,
      isDone: () => {
        questions++;
        if (questions === 40) controller.abort(reason);
        return false;
      },
    });
    expect(await aborted.catch((error: unknown) => error)).toBe(reason);
    const then = questions;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(questions).toBe(then);
    expect((await model.generate(prompts, options)).stopped.length).toBe(15);
  });

  test("has to be a function", async () => {
    const bad = model.generate(prompts, { ...options, isDone: true as never });
    await expect(bad).rejects.toMatchObject({ code: "ERR_ARGUMENT_TYPE", message: /isDone: .*got true/ });
  });
});
