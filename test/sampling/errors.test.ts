import { describe, expect, it } from "vitest";
import { sampleTokens } from "../../lib/index.ts";
import { normals, rowTensor, tensor } from "../logprob/support.ts";
import { rejection } from "../support/errors.ts";
import { someCounters } from "./support.ts";

const logits = tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]);
const counters = someCounters(2);

describe("sampleTokens: bad arguments", () => {
  it.each([
    ["temperature below the range", { temperature: 1e-7 }, /^temperature: expected a number in \[/],
    ["a negative temperature", { temperature: -1 }, /^temperature: /],
    ["a temperature that is NaN", { temperature: Number.NaN }, /^temperature: /],
    ["half a token", { topK: 1.5 }, /^topK: expected an integer >= 0, got 1.5/],
    ["topP of 0", { topP: 0 }, /^topP: expected a number in \(0, 1\], got 0/],
    ["topP above 1", { topP: 1.01 }, /^topP: /],
    ["minP above 1", { minP: 2 }, /^minP: /],
    ["a negative seed", { seed: -1 }, /^seed: expected an integer >= 0/],
    ["a seed beyond 2^53", { seed: 2 ** 53 }, /^seed: /],
  ])("%s", async (_, options, message) => {
    const { code, message: said } = await rejection(() => sampleTokens(logits, counters, options));
    expect([code, said]).toEqual(["ERR_ARGUMENT_VALUE", expect.stringMatching(message)]);
  });

  it.each([
    ["no counters", undefined, "ERR_ARGUMENT_TYPE", /^counters: expected \{ steps, samples, prompts \}/],
    ["no steps", { ...counters, steps: undefined }, "ERR_ARGUMENT_TYPE", /^counters.steps: .* got undefined/],
    [
      "a row too few",
      { ...counters, samples: [1] },
      "ERR_SHAPE",
      /^counters.samples: expected the 2 rows of log/,
    ],
    ["a negative step", { ...counters, steps: [0, -1] }, "ERR_ARGUMENT_VALUE", /^counters.steps\[1\]: /],
    [
      "a sample of 2^32",
      { ...counters, samples: [2 ** 32, 0] },
      "ERR_ARGUMENT_VALUE",
      /^counters.samples\[0\]: /,
    ],
    ["half a prompt", { ...counters, prompts: [0, 0.5] }, "ERR_ARGUMENT_VALUE", /^counters.prompts\[1\]: /],
    [
      "a prompt of 2^53",
      { ...counters, prompts: [0, 2 ** 53] },
      "ERR_ARGUMENT_VALUE",
      /^counters.prompts\[1\]/,
    ],
    [
      "a prompt of 2^64",
      { ...counters, prompts: [0n, 2n ** 64n] },
      "ERR_ARGUMENT_VALUE",
      /^counters.prompts/,
    ],
    [
      "a negative prompt",
      { ...counters, prompts: [-1n, 0n] },
      "ERR_ARGUMENT_VALUE",
      /^counters.prompts\[0\]/,
    ],
  ])("%s", async (_, given, code, message) => {
    const got = await rejection(() => sampleTokens(logits, given as never));
    expect(got).toEqual({ code, message: expect.stringMatching(message) });
  });

  it("logits that are none, a vocabulary beyond 2^18, a switch that is no boolean", async () => {
    expect((await rejection(() => sampleTokens(null as never, counters))).code).toBe("ERR_ARGUMENT_TYPE");
    const wide = rowTensor("float16", [...new Float64Array(2 ** 18 + 1)]);
    expect(await rejection(() => sampleTokens(wide, someCounters(1)))).toEqual({
      code: "ERR_SHAPE",
      message: "logits.dims[1]: expected a vocabulary of at most 262144 tokens, got 262145",
    });
    const truncatedLogProbs = 1 as never;
    expect((await rejection(() => sampleTokens(logits, counters, { truncatedLogProbs }))).message).toMatch(
      /^truncatedLogProbs: expected a boolean, got 1/,
    );
  });

  it.each([
    [[0, 1, Number.NaN, 1], "row 1, got NaN at position 0"],
    [[0, 1, 1, Number.POSITIVE_INFINITY], "row 1, got Infinity at position 1"],
    [[Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 1], "row 0, got only -Infinity"],
  ])("%j has a row without a distribution", async (values, where) => {
    for (const temperature of [0, 1]) {
      const bad = tensor("float32", [2, 2], values);
      const { code, message } = await rejection(() => sampleTokens(bad, counters, { temperature }));
      expect(code).toBe("ERR_NOT_FINITE");
      expect(message).toContain(where);
    }
  });
});

describe("sampleTokens: AbortSignal", () => {
  const [rows, width] = [600, 20_000];
  const long = tensor("float64", [rows, width], normals(rows * width, 2, 3));

  it("that has fired already rejects with its reason", async () => {
    const signal = AbortSignal.abort("not wanted");
    await expect(sampleTokens(logits, counters, { signal })).rejects.toBe("not wanted");
  });

  it("that fires mid-work rejects long before the work would be done", async () => {
    const start = performance.now();
    await sampleTokens(long, someCounters(rows), { topP: 0.9 });
    const whole = performance.now() - start;
    const controller = new AbortController();
    const promise = sampleTokens(long, someCounters(rows), { topP: 0.9, signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const fired = performance.now();
    controller.abort("enough");
    await expect(promise).rejects.toBe("enough");
    expect(performance.now() - fired).toBeLessThan(whole / 2);
  });
});
