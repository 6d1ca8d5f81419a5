// Batches for the sampling tests.
import fc from "fast-check";
import type { DrawCounters, SamplingRule } from "../../lib/index.ts";
import { draw, uniform } from "../reference/sampling.ts";

/** Counters of `rows` draws, all different. */
export function someCounters(rows: number, first = 0): DrawCounters {
  const rowsOf = (number: (row: number) => number) =>
    Array.from({ length: rows }, (_, i) => number(first + i));
  return {
    steps: rowsOf((i) => i),
    samples: rowsOf((i) => i % 3),
    prompts: rowsOf((i) => 2 ** 40 + 7 * i),
  };
}

/** The draws by the definition. */
export function expectedDraws(
  values: number[],
  width: number,
  counters: DrawCounters,
  options: SamplingRule,
) {
  const { temperature = 1, topK = 0, topP = 1, minP = 0, seed = 0 } = options;
  return Array.from({ length: values.length / width }, (_, i) => {
    const u = uniform(seed, counters.steps[i]!, counters.samples[i]!, BigInt(counters.prompts[i]!));
    return draw(values.slice(i * width, (i + 1) * width), { temperature, topK, topP, minP }, u);
  });
}

/** Every kind of rule, each part on and off. */
export const rules: fc.Arbitrary<SamplingRule> = fc.record({
  temperature: fc.constantFrom(1, 1, 0.4, 3, 0),
  topK: fc.constantFrom(0, 0, 1, 3, 50),
  topP: fc.constantFrom(1, 1, 0.9, 0.35, 1e-9),
  minP: fc.constantFrom(0, 0, 0.013, 0.31),
  seed: fc.constantFrom(0, 1, 2 ** 32, 2 ** 53 - 1),
});
