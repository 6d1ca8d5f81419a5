import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { getNumThreads, type SampledTokens, sampleTokens, setNumThreads } from "../../lib/index.ts";
import { batches, normals, numbersOf, rowTensor, tensor } from "../logprob/support.ts";
import { expectClose, expectSameBits } from "../support/compare.ts";
import { permutation, seeded } from "../support/generators.ts";
import { expectedDraws, rules, someCounters } from "./support.ts";

const threads = getNumThreads();
afterAll(() => setNumThreads(threads));
const types = ["float32", "float64", "bfloat16", "float16"] as const;
const everything = { logProbs: true, truncatedLogProbs: true } as const;

function expectSameDraws(actual: SampledTokens, expected: SampledTokens) {
  expect(actual.tokens).toEqual(expected.tokens);
  expectSameBits(actual.logProbs!, expected.logProbs!);
  expectSameBits(actual.truncatedLogProbs!, expected.truncatedLogProbs!);
}

describe.each(types)("sampleTokens of %s logits", (type) => {
  it("draws what the definition draws, except at the border of two tokens", async () => {
    const slack = type === "float64" ? 1e-12 : 1e-6;
    let [rows, unclear] = [0, 0];
    await fc.assert(
      fc.asyncProperty(batches, rules, async ({ dims, values }, rule) => {
        const logits = tensor(type, dims, values);
        const counters = someCounters(dims[0]);
        const result = await sampleTokens(logits, counters, { ...rule, ...everything });
        const expected = expectedDraws(numbersOf(logits), dims[1], counters, rule);
        for (const [i, row] of expected.entries()) {
          rows++;
          if (row.margin < slack) {
            unclear++;
            continue;
          }
          expect(result.tokens[i]).toBe(row.token);
          expectClose([result.logProbs![i]!], [row.logProb], 1e-6);
          expectClose([result.truncatedLogProbs![i]!], [row.truncatedLogProb], 1e-6);
        }
      }),
      { ...seeded, numRuns: 200 },
    );
    expect(unclear).toBeLessThan(0.05 * rows);
  });

  it("whatever the batch, the order of the rows and the number of threads", async () => {
    const [rows, width] = [9, 3001];
    const values = normals(rows * width, 4, 3);
    const rowOf = (i: number) => values.subarray(i * width, (i + 1) * width);
    const counters = someCounters(rows);
    const pick = (order: readonly number[]) => ({
      steps: order.map((i) => counters.steps[i]!),
      samples: order.map((i) => counters.samples[i]!),
      prompts: order.map((i) => Number(counters.prompts[i]!)),
    });
    const options = { topP: 0.9, topK: 500, seed: 5, ...everything };
    const whole = await sampleTokens(tensor(type, [rows, width], values), counters, options);
    const chosen = (order: readonly number[]): SampledTokens => ({
      tokens: Int32Array.from(order, (i) => whole.tokens[i]!),
      logProbs: Float64Array.from(order, (i) => whole.logProbs![i]!),
      truncatedLogProbs: Float64Array.from(order, (i) => whole.truncatedLogProbs![i]!),
    });
    for (const count of [1, 3]) {
      setNumThreads(count);
      await fc.assert(
        fc.asyncProperty(permutation(rows), fc.integer({ min: 1, max: rows }), async (order, some) => {
          const taken = order.slice(0, some);
          const data = taken.flatMap((i) => [...rowOf(i)]);
          const part = await sampleTokens(tensor(type, [some, width], data), pick(taken), options);
          expectSameDraws(part, chosen(taken));
        }),
        { ...seeded, numRuns: 8 },
      );
    }
  });
});

describe("sampleTokens", () => {
  it("follows the distribution, truncated or not", async () => {
    const draws = 20_000;
    const row = [0, 1, 2, -1];
    const data = Float32Array.from({ length: 4 * draws }, (_, i) => row[i % 4]!);
    const logits = { type: "float32", data, dims: [draws, 4] } as const;
    for (const [options, kept] of [
      [{}, [0, 1, 2, 3]],
      [{ topK: 3 }, [0, 1, 2]],
      [{ topP: 0.8 }, [1, 2]],
      [{ minP: 0.1 }, [0, 1, 2]],
      [{ temperature: 2, topK: 2 }, [1, 2]],
    ] as const) {
      const { temperature = 1 } = options as { temperature?: number };
      const weights = row.map((x, id) =>
        (kept as readonly number[]).includes(id) ? Math.exp(x / temperature) : 0,
      );
      const whole = weights.reduce((a, b) => a + b);
      const { tokens } = await sampleTokens(logits, someCounters(draws), { ...options, seed: 3 });
      const seen = [0, 0, 0, 0];
      for (const token of tokens) seen[token]!++;
      for (const [id, weight] of weights.entries()) {
        const p = weight / whole;
        expect(Math.abs(seen[id]! - p * draws)).toBeLessThanOrEqual(5 * Math.sqrt(draws * p * (1 - p)));
      }
    }
  });

  it("temperature 0 takes the first of the most likely tokens, -0 being +0", async () => {
    const logits = tensor("float32", [2, 4], [-1, -0, 0, -2, 3, 5, 5, 5]);
    const result = await sampleTokens(logits, someCounters(2), { temperature: 0, topK: 3, ...everything });
    expect([...result.tokens]).toEqual([1, 1]);
    expectClose(
      result.logProbs!,
      [-Math.log(2 + Math.exp(-1) + Math.exp(-2)), -Math.log(3 + Math.exp(-2))],
      1e-6,
    );
    expect([...result.truncatedLogProbs!]).toEqual([0, 0]);
  });

  it("a vocabulary of 2^18, the largest", async () => {
    const width = 2 ** 18;
    const values = normals(width, 11, 2);
    const logits = rowTensor("float64", [...values]);
    const counters = someCounters(1, 5);
    for (const rule of [{}, { topP: 0.5, topK: 100_000 }]) {
      const { tokens, logProbs } = await sampleTokens(logits, counters, rule);
      const [expected] = expectedDraws([...values], width, counters, rule);
      expect(tokens[0]).toBe(expected!.token);
      expect(Math.abs(logProbs![0]! - expected!.logProb)).toBeLessThanOrEqual(width * 2 ** -44);
    }
  });

  it("only what is asked for is returned", async () => {
    const logits = rowTensor("float64", [1, 2]);
    const keys = async (options: object) => Object.keys(await sampleTokens(logits, someCounters(1), options));
    expect(await keys({})).toEqual(["tokens", "logProbs"]);
    expect(await keys({ logProbs: false })).toEqual(["tokens"]);
    expect(await keys({ logProbs: false, truncatedLogProbs: true })).toEqual(["tokens", "truncatedLogProbs"]);
    const { logProbs } = await sampleTokens(rowTensor("bfloat16", [1, 2]), someCounters(1));
    expect(logProbs).toBeInstanceOf(Float32Array);
  });
});
