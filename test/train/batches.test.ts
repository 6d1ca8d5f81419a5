import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EpochSampler, joinRows, packRows, shuffled } from "../../lib/train/batches.ts";
import { type Schedule, scheduled } from "../../lib/train/schedule.ts";
import { seeded } from "../support/generators.ts";

describe("shuffled", () => {
  it("is a permutation that seed and epoch decide", () => {
    fc.assert(
      fc.property(fc.nat(200), fc.nat(1000), fc.nat(10), (count, seed, epoch) => {
        const order = shuffled(count, seed, epoch);
        expect(Array.from(order).sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
        expect(shuffled(count, seed, epoch)).toEqual(order);
      }),
      seeded,
    );
    expect(shuffled(100, 1, 0)).not.toEqual(shuffled(100, 1, 1));
    expect(shuffled(100, 1, 0)).not.toEqual(shuffled(100, 2, 0));
  });

  it("favours no place", () => {
    const first = new Array<number>(5).fill(0);
    for (let seed = 0; seed < 5000; seed++) first[shuffled(5, seed, 0)[0]!]!++;
    for (const count of first) expect(Math.abs(count - 1000)).toBeLessThan(150); // 5 deviations
  });

  it("rejects a negative count", () => {
    expect(() => shuffled(-1, 1, 0)).toThrow(/count: expected an integer >= 0, got -1/);
  });
});

describe("EpochSampler", () => {
  it("goes through every row once an epoch, over the ends of epochs, and can start anywhere", () => {
    const sampler = new EpochSampler(7, 3);
    const steps = Array.from({ length: 14 }, (_, step) => sampler.at(step, 3));
    const all = steps.flat();
    for (let epoch = 0; epoch < 6; epoch++)
      expect(new Set(all.slice(7 * epoch, 7 * (epoch + 1))).size).toBe(7);
    expect(new EpochSampler(7, 3).at(9, 3)).toEqual(steps[9]);
  });

  it("rejects an empty set", () => {
    expect(() => new EpochSampler(0, 1)).toThrow(/rows: expected at least 1, got 0/);
  });
});

describe("packRows", () => {
  it("covers the rows in order, within the budget but for single rows, and never closes early", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 50 })),
        fc.integer({ min: 1, max: 120 }),
        (lengths, budget) => {
          const ranges = packRows(lengths, budget);
          const size = (from: number, to: number) => lengths.slice(from, to).reduce((a, b) => a + b, 0);
          expect(ranges.flatMap(({ from, to }) => lengths.slice(from, to))).toEqual(lengths);
          for (const { from, to } of ranges) {
            expect(to).toBeGreaterThan(from);
            if (to - from > 1) expect(size(from, to)).toBeLessThanOrEqual(budget);
            if (to < lengths.length) expect(size(from, to + 1)).toBeGreaterThan(budget);
          }
        },
      ),
      seeded,
    );
  });

  it("rejects a budget of nothing", () => {
    expect(() => packRows([1], 0)).toThrow(/budget: expected at least 1, got 0/);
  });
});

it("joinRows keeps rows and bounds", () => {
  expect(joinRows([[1, 2], [], [3]])).toEqual({
    data: Int32Array.of(1, 2, 3),
    offsets: Int32Array.of(0, 2, 2, 3),
  });
});

describe("scheduled", () => {
  const at = (schedule: Schedule, ...steps: number[]) => steps.map((step) => scheduled(schedule, step, 10));

  it("follows its formulas", () => {
    expect(at({ shape: "constant", warmup: 4 }, 1, 2, 4, 9)).toEqual([0.25, 0.5, 1, 1]);
    expect(at({ shape: "linear" }, 5, 10)).toEqual([0.5, 0]);
    expect(at({ shape: "linear", warmup: 2, final: 0.5 }, 1, 2, 6, 10, 99)).toEqual([0.5, 1, 0.75, 0.5, 0.5]);
    const [start, middle, end] = at({ shape: "cosine", warmup: 2, final: 0.1 }, 2, 6, 10);
    expect([start, end]).toEqual([1, 0.1]);
    expect(middle).toBeCloseTo(0.55, 12);
  });

  it.each([
    [{ shape: "square" }, /shape: expected one of/],
    [{ shape: "cosine", warmup: -1 }, /warmup/],
    [{ shape: "cosine", final: 2 }, /final: expected a number in \[0, 1\], got 2/],
  ])("rejects %j", (schedule, message) => {
    expect(() => scheduled(schedule as Schedule, 1, 10)).toThrow(message);
  });
});
