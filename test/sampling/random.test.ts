// The random numbers, read off draws from 2^18 equally likely tokens: the token is the first 18 bits of the uniform one.
import { describe, expect, it } from "vitest";
import { type DrawCounters, sampleTokens } from "../../lib/index.ts";
import { philox, uniform } from "../reference/sampling.ts";

const width = 2 ** 18;

async function bits(seed: number, counters: DrawCounters): Promise<number[]> {
  const rows = counters.steps.length;
  const logits = { type: "float32", data: new Float32Array(rows * width), dims: [rows, width] } as const;
  return [...(await sampleTokens(logits, counters, { seed })).tokens];
}

describe("Philox4x32-10", () => {
  it("the oracle gives the published answers", () => {
    expect(philox([0n, 0n, 0n, 0n], [0n, 0n])).toEqual([0x6627e8d5n, 0xe169c58dn, 0xbc57ac4cn, 0x9b00dbd8n]);
    const ones = 0xffffffffn;
    expect(philox([ones, ones, ones, ones], [ones, ones])).toEqual([
      0x408f276dn,
      0x41c83b0en,
      0xa20bc7c6n,
      0x6d5451fdn,
    ]);
  });

  it("a draw is the uniform number of its seed and counters, every bit of which matters", async () => {
    const last = 2 ** 32 - 1;
    const cases: [seed: number, step: number, sample: number, prompt: bigint][] = [
      [0, 0, 0, 0n],
      [1, 0, 0, 0n],
      [2 ** 32, 0, 0, 0n],
      [2 ** 53 - 1, 0, 0, 0n],
      [0, 1, 0, 0n],
      [0, last, 0, 0n],
      [0, 0, 1, 0n],
      [0, 0, last, 0n],
      [0, 0, 0, 1n],
      [0, 0, 0, 2n ** 31n],
      [0, 0, 0, 2n ** 32n],
      [0, 0, 0, 2n ** 63n],
      [7, 3, 2, 2n ** 64n - 1n],
    ];
    const drawn: number[] = [];
    for (const [seed, step, sample, prompt] of cases) {
      const counters = { steps: [step], samples: [sample], prompts: BigUint64Array.of(prompt) };
      const [token] = await bits(seed, counters);
      expect(token).toBe(Math.floor(uniform(seed, step, sample, prompt) * width));
      if (prompt < 2n ** 53n)
        expect(await bits(seed, { ...counters, prompts: [Number(prompt)] })).toEqual([token]);
      drawn.push(token!);
    }
    expect(drawn[0]).toBe(0x6627e8d5 >>> 14);
    expect(new Set(drawn).size).toBe(cases.length);
  });
});
