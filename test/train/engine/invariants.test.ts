// What must not change a bit, and what must come out the same by another way.
import { describe, expect, test } from "vitest";
import { setNumThreads, capabilities } from "../../../lib/index.ts";
import { createModel, Optimizer, type TrainableModel } from "../../../lib/train/engine/index.ts";
import { expectClose, expectSameBits } from "../../support/compare.ts";
import { ints } from "../../support/ragged.ts";
import { TINY_QWEN3 } from "../../support/tiny-model.ts";

const CONFIG = {
  ...TINY_QWEN3,
  vocab_size: 19,
  max_position_embeddings: 512,
  rope_theta: 1000,
  tie_word_embeddings: true,
};

const fresh = (seed = 3): TrainableModel => createModel(CONFIG, { heads: { lm: true, value: true }, seed });

/** Rows of tokens, and the reads that predict every token but the first of each row. */
function rowsOf(lengths: readonly number[], salt = 0) {
  const rows = lengths.map((length, row) =>
    Array.from({ length }, (_, i) => (i * i * 3 + 5 * row + salt) % 19),
  );
  return { rows, ...predictions(rows) };
}

function predictions(rows: readonly (readonly number[])[]) {
  const batch = ints(rows);
  const reads: number[] = [];
  for (let row = 0; row < rows.length; row++) {
    for (let i = batch.offsets[row]!; i + 1 < batch.offsets[row + 1]!; i++) reads.push(i);
  }
  const at = Int32Array.from(reads);
  return { batch, reads: at, targets: at.map((i) => batch.data[i + 1]!) };
}

/** Adds the gradients of sum_i w(row) log p_i / 100. */
async function accumulate(model: TrainableModel, rows: number[][], first: number): Promise<number[]> {
  const { batch, reads, targets } = predictions(rows);
  const pass = await model.forward(batch);
  const of = await pass.logProbs(reads, targets);
  const rowOf = (i: number) => batch.offsets.findIndex((offset) => offset > i) - 1;
  await pass.backward({
    logProbs: [{ of, gradLogProbs: Float32Array.from(reads, (i) => Math.sin(first + rowOf(i) + 1) / 100) }],
  });
  return [...of.logProbs];
}

const gradients = (model: TrainableModel) => model.trainable().map(({ grad }) => grad!.slice());

test("any split of a batch gives the same gradients", async () => {
  const { rows } = rowsOf([9, 30, 2, 17, 25]);
  const model = fresh();
  const whole = await accumulate(model, rows, 0);
  const expected = gradients(model);
  for (const cuts of [
    [0, 1, 5],
    [0, 2, 3, 5],
    [0, 1, 2, 3, 4, 5],
  ]) {
    model.clearGradients();
    const parts: number[] = [];
    for (let i = 1; i < cuts.length; i++) {
      parts.push(...(await accumulate(model, rows.slice(cuts[i - 1], cuts[i]), cuts[i - 1]!)));
    }
    expectSameBits(parts, whole);
    for (const [i, grad] of gradients(model).entries()) {
      const size = Math.hypot(...expected[i]!);
      const difference = Math.hypot(...grad.map((value, j) => value - expected[i]![j]!));
      expect(difference).toBeLessThanOrEqual(1e-6 * size);
    }
  }
});

test("the same bits for every number of threads", async () => {
  const threads = capabilities().threads;
  const { rows } = rowsOf([60, 200, 3]);
  const model = fresh();
  try {
    setNumThreads(1);
    await accumulate(model, rows, 0);
    const one = gradients(model);
    setNumThreads(4);
    model.clearGradients();
    await accumulate(model, rows, 0);
    for (const [i, grad] of gradients(model).entries()) expectSameBits(grad, one[i]!);
  } finally {
    setNumThreads(threads);
  }
});

describe("generation", () => {
  const prompts = ints([[1, 2, 3], [7], [4, 4, 4, 4, 9]]);
  const options = { samples: 4, maxTokens: 30, temperature: 0.9, seed: 2 ** 40 + 7, stopIds: [5] };

  test("log-probs are those of a training pass, to the bit: the ratio is exactly 1", async () => {
    const model = fresh();
    const { tokens, logProbs, prompts: promptOf } = await model.generate(prompts, options);
    const rows = Array.from(promptOf, (prompt, row) => [
      ...prompts.data.subarray(prompts.offsets[prompt]!, prompts.offsets[prompt + 1]!),
      ...tokens.data.subarray(tokens.offsets[row]!, tokens.offsets[row + 1]!),
    ]);
    const { batch } = predictions(rows);
    const reads: number[] = [];
    for (let row = 0; row < rows.length; row++) {
      const written = tokens.offsets[row + 1]! - tokens.offsets[row]!;
      for (let i = batch.offsets[row + 1]! - written; i < batch.offsets[row + 1]!; i++) reads.push(i - 1);
    }
    const pass = await model.forward(batch, { keep: "nothing" });
    const again = await pass.logProbs(Int32Array.from(reads), tokens.data, { temperature: 0.9 });
    expectSameBits(again.logProbs, logProbs.data);
    expect(tokens.data.length).toBeGreaterThan(60);
  });

  test("a sequence depends on seed, prompt and sample alone", async () => {
    const model = fresh();
    const all = await model.generate(prompts, options);
    const alone = await model.generate(ints([[4, 4, 4, 4, 9]]), {
      ...options,
      samples: 1,
      firstSample: 2,
      batch: 1,
    });
    const row = 2 * 4 + 2;
    const part = (data: Int32Array | Float32Array, offsets: Int32Array) =>
      data.slice(offsets[row]!, offsets[row + 1]!);
    expectSameBits(alone.tokens.data, part(all.tokens.data, all.tokens.offsets));
    expectSameBits(alone.logProbs.data, part(all.logProbs.data, all.logProbs.offsets));
    const other = await model.generate(prompts, { ...options, seed: 7 });
    expect(other.tokens.data).not.toEqual(all.tokens.data);
  });

  test("stop ids end a sequence and are part of it", async () => {
    const { tokens, stopped } = await fresh().generate(prompts, options);
    for (let row = 0; row < stopped.length; row++) {
      const written = [...tokens.data.subarray(tokens.offsets[row]!, tokens.offsets[row + 1]!)];
      expect(written.slice(0, -1)).not.toContain(5);
      expect(written.at(-1) === 5).toBe(stopped[row] === 1);
      if (!stopped[row]) expect(written.length).toBe(30);
    }
    expect(stopped).toContain(1);
  });

  test("draws follow the distribution, and what truncation leaves of it", async () => {
    const model = fresh();
    const pass = await model.forward(ints([[1, 2, 3]]), { keep: "nothing" });
    const every = Int32Array.from({ length: 19 }, (_, i) => i);
    const { logProbs } = await pass.logProbs(
      every.map(() => 2),
      every,
      { temperature: 0.5 },
    );
    const p = Array.from(logProbs, Math.exp);
    const order = p.map((_, i) => i).sort((a, b) => p[b]! - p[a]!);
    const draw = async (rule: object) => {
      const drawn = await model.generate(ints([[1, 2, 3]]), {
        samples: 4000,
        maxTokens: 1,
        temperature: 0.5,
        seed: 1,
        ...rule,
      });
      const counts = new Array<number>(19).fill(0);
      for (const token of drawn.tokens.data) counts[token]!++;
      return counts;
    };
    const check = async (rule: object, kept: number[]) => {
      const counts = await draw(rule);
      const total = kept.reduce((sum, i) => sum + p[i]!, 0);
      for (const [i, count] of counts.entries()) {
        const share = kept.includes(i) ? p[i]! / total : 0;
        expect(Math.abs(count / 4000 - share)).toBeLessThanOrEqual(
          4 * Math.sqrt((share * (1 - share)) / 4000),
        );
      }
    };
    await check({}, order);
    await check({ topK: 3 }, order.slice(0, 3));
    await check(
      { minP: 0.5 },
      order.filter((i) => p[i]! >= 0.5 * p[order[0]!]!),
    );
    const sums = order.map((_, n) => order.slice(0, n + 1).reduce((sum, i) => sum + p[i]!, 0));
    await check({ topP: 0.6 }, order.slice(0, sums.findIndex((sum) => sum >= 0.6) + 1));
    expect((await draw({ temperature: 0 }))[order[0]!]).toBe(4000);
  });
});

describe("what trains", () => {
  test("LoRA changes nothing at first, trains alone, and merges", async () => {
    const { rows, batch, reads, targets } = rowsOf([12, 5]);
    const model = fresh();
    const logProbs = async () => (await (await model.forward(batch)).logProbs(reads, targets)).logProbs;
    const before = await logProbs();
    const weights = [...model.parameters.values()].map(({ data }) => data.slice());
    model.train({ lora: { rank: 2, seed: 4 } });
    expectSameBits(await logProbs(), before);
    const optimizer = new Optimizer(model);
    for (let i = 0; i < 5; i++) {
      await accumulate(model, rows, 1);
      optimizer.step({ learningRate: 0.02 });
    }
    const adapted = await logProbs();
    expect(adapted).not.toEqual(before);
    for (const [i, { name, data }] of [...model.parameters.values()].entries()) {
      if (!name.startsWith("v_head")) expectSameBits(data, weights[i]!);
    }
    model.mergeAdapters();
    expectClose(await logProbs(), adapted, 1e-5);
  });

  test("a frozen backbone keeps its bits and the heads move", async () => {
    const model = fresh();
    model.train("heads");
    const { batch, reads } = rowsOf([8, 3]);
    const pass = await model.forward(batch);
    const values = await pass.readout("value", reads);
    await pass.backward({ readouts: [{ head: "value", reads, grad: values.fill(1) }] });
    expect(model.trainable().map(({ name }) => name)).toEqual([
      "v_head.summary.weight",
      "v_head.summary.bias",
    ]);
    const frozen = model.parameters.get("model.layers.0.mlp.up_proj.weight")!;
    const before = frozen.data.slice();
    expect(new Optimizer(model).step({ learningRate: 0.1 })).toBeGreaterThan(0);
    expectSameBits(frozen.data, before);
    expect(model.parameters.get("v_head.summary.bias")!.data[0]).toBeCloseTo(-0.1, 6);
  });

  test("learns: one batch's likelihood rises", async () => {
    const model = fresh();
    const { batch, reads, targets } = rowsOf([20, 20, 20]);
    const optimizer = new Optimizer(model);
    const losses: number[] = [];
    for (let i = 0; i < 40; i++) {
      const pass = await model.forward(batch);
      const of = await pass.logProbs(reads, targets);
      losses.push(-of.logProbs.reduce((sum, x) => sum + x, 0) / reads.length);
      const gradLogProbs = new Float32Array(reads.length).fill(-1 / reads.length);
      await pass.backward({ logProbs: [{ of, gradLogProbs }] });
      optimizer.step({ learningRate: 0.01, maxNorm: 1 });
    }
    expect(losses[0]).toBeGreaterThan(2.5);
    expect(losses.at(-1)).toBeLessThan(0.3);
  });
});
