// Sampling on device tensors draws what it draws on the host.
import { beforeAll, expect, it } from "vitest";
import { cuda, type Gpu, sampleTokens, type Tensor, tokenLogProbs } from "../../lib/index.ts";
import { normals, tensor } from "../logprob/support.ts";
import { someCounters } from "../sampling/support.ts";
import { describeEmulated } from "./emulated.ts";
import { hostOf, normRatio } from "./support.ts";

const [rows, vocabulary] = [2, 301];
const counters = someCounters(rows);
const everything = { logProbs: true, truncatedLogProbs: true, seed: 2 ** 40 + 3 } as const;

function logitsOf(type: Tensor["type"]): Tensor {
  const values = normals(rows * vocabulary, 8, 3);
  values[5] = Number.NEGATIVE_INFINITY;
  return tensor(type, [rows, vocabulary], values);
}

describeEmulated("sampling on the device", () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await cuda();
  });

  it.each(["float32", "float64", "bfloat16", "float16"] as const)(
    "%s: the tokens of the host",
    async (type) => {
      const logits = logitsOf(type);
      const placed = gpu.upload(logits);
      for (const rule of [
        {},
        { temperature: 0 },
        { temperature: 0.6, topK: 7 },
        { minP: 0.05, topP: 0.7 },
        { temperature: 1.5, minP: 0.001, topK: 100, topP: 0.9 },
      ]) {
        const expected = await sampleTokens(logits, counters, { ...rule, ...everything });
        const found = await sampleTokens(placed, counters, { ...rule, ...everything });
        expect(await found.tokens.download()).toEqual(expected.tokens);
        const [actual, wanted] = [await hostOf(found), await hostOf(expected)];
        expect(Object.keys(actual).sort()).toEqual(["logProbs", "tokens", "truncatedLogProbs"]);
        const bound = type === "float64" ? 1e-12 : 1e-6;
        for (const name of ["logProbs", "truncatedLogProbs"])
          expect(normRatio(actual[name]!, wanted[name]!), name).toBeLessThanOrEqual(bound);
      }
    },
  );

  it("the drawn tokens are targets as they are", async () => {
    const logits = gpu.upload(logitsOf("float32"));
    const { tokens, logProbs } = await sampleTokens(logits, counters, { temperature: 0.7 });
    const again = await tokenLogProbs(logits, tokens, { temperature: 0.7 });
    expect(normRatio(await logProbs!.download(), await again.logProbs.download())).toBeLessThanOrEqual(1e-6);
  });

  it("only what is asked for is returned", async () => {
    const logits = gpu.upload(logitsOf("float64"));
    expect(Object.keys(await sampleTokens(logits, counters, { logProbs: false }))).toEqual(["tokens"]);
  });

  it("a row without a distribution is told at the next download, counters at once", async () => {
    const bad = gpu.upload(tensor("float32", [2, 2], [0, 1, 0, Number.NaN]));
    await sampleTokens(bad, someCounters(2));
    await expect(gpu.synchronize()).rejects.toThrow(
      /^sampleTokens: logits: expected .*, at row 1, got NaN at position 1/,
    );
    await expect(sampleTokens(bad, someCounters(1))).rejects.toThrow(/^counters.steps: expected the 2 rows/);
  });
});
