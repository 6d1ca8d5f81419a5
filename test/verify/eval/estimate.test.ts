// Numbers worked out by hand, and what must hold for any numbers.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { average, type Estimate, estimate, passAtK, wilson } from "../../../lib/verify/eval/index.ts";
import { errorCode } from "../../support/compare.ts";

describe("passAtK", () => {
  it.each([
    // 1 - C(n - c, k) / C(n, k)
    [5, 2, 1, 2 / 5],
    [5, 2, 2, 1 - 3 / 10],
    [5, 2, 3, 1 - 1 / 10],
    [5, 2, 4, 1],
    [10, 3, 5, 1 - 21 / 252],
    [4, 0, 4, 0],
    [1, 1, 1, 1],
    [3, 3, 2, 1],
  ])("n %i, c %i, k %i", (n, c, k, expected) => {
    expect(passAtK(n, c, k)).toBeCloseTo(expected, 14);
  });

  it("is the mean of the best of k over all subsets of size k", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }), fc.nat(), (right, seed) => {
        const n = right.length;
        const k = 1 + (seed % n);
        let [subsets, hits] = [0, 0];
        for (let mask = 0; mask < 1 << n; mask++) {
          const chosen = right.filter((_, i) => (mask >> i) & 1);
          if (chosen.length !== k) continue;
          subsets++;
          if (chosen.includes(true)) hits++;
        }
        expect(passAtK(n, right.filter(Boolean).length, k)).toBeCloseTo(hits / subsets, 12);
      }),
      { seed: 1 },
    );
  });

  it("stays finite and ordered where binomials overflow", () => {
    const values = [1, 10, 100, 1000].map((k) => passAtK(100_000, 50, k));
    expect(values[0]).toBeCloseTo(50 / 100_000, 12);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    // (1 - 50/100000) ... (1 - 50/99001), each factor near 0.9995
    expect(values[3]).toBeCloseTo(0.395, 3);
  });

  it.each([
    [5, 6, 1],
    [5, 2, 0],
    [5, 2, 6],
    [5, -1, 1],
    [0, 0, 1],
    [Number.NaN, 0, 1],
    [5, 2, 1.5],
  ])("refuses n %d, c %d, k %d", (n, c, k) => {
    expect(errorCode(() => passAtK(n, c, k))).toBe("ERR_ARGUMENT_VALUE");
  });
});

describe("wilson", () => {
  // z = 1.959964, z^2 = 3.841459
  it.each([
    // (0.5 + 0.1920729 -+ 1.959964 sqrt(0.025 + 0.00960365)) / 1.3841459
    [5, 10, 0.2365931, 0.7634069],
    // centre and half width of 0 of 10 are both z^2 / 2n / (1 + z^2 / n)
    [0, 10, 0, 0.2775328],
    [10, 10, 0.7224672, 1],
    [1, 1, 0.2065493, 1],
    // published for 81 of 263: 0.255 to 0.366
    [81, 263, 0.2552896, 0.3662141],
  ])("%i of %i", (right, n, low, high) => {
    const found = wilson(right, n);
    expect(found.low).toBeCloseTo(low, 4);
    expect(found.high).toBeCloseTo(high, 4);
  });

  it("holds the share, mirrors and narrows", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.nat(), (n, seed) => {
        const right = seed % (n + 1);
        const { low, high } = wilson(right, n);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThanOrEqual(right / n);
        expect(high).toBeGreaterThanOrEqual(right / n);
        expect(high).toBeLessThanOrEqual(1);
        expect(high).toBeGreaterThan(low);
        const mirrored = wilson(n - right, n);
        expect(mirrored.low).toBeCloseTo(1 - high, 12);
        const more = wilson(4 * right, 4 * n);
        expect(more.high - more.low).toBeLessThan(high - low);
      }),
      { seed: 1 },
    );
  });

  it("refuses impossible counts", () => {
    for (const [right, n] of [
      [1, 0],
      [3, 2],
      [-1, 2],
      [0.5, 2],
      [Number.NaN, 2],
    ])
      expect(errorCode(() => wilson(right!, n!))).toBe("ERR_ARGUMENT_VALUE");
  });
});

describe("estimate", () => {
  it("takes the spread over problems when a problem has several samples", () => {
    // mean 0.5; squares 0.25 + 0 + 0 + 0.25 = 0.5; / 3 / 4 = 1 / 24
    const found = estimate([0, 0.5, 0.5, 1], false);
    expect(found.value).toBe(0.5);
    expect(found.standardError).toBeCloseTo(Math.sqrt(1 / 24), 14);
    expect(found.low).toBeCloseTo(0.5 - 1.959964 * 0.2041241, 6);
    expect(found.high).toBeCloseTo(0.5 + 1.959964 * 0.2041241, 6);
  });

  it("takes Wilson's interval for a yes or no, and where nothing is spread", () => {
    expect(estimate([1, 0, 0, 0], true)).toMatchObject({ value: 0.25, ...wilson(1, 4) });
    expect(estimate([1, 1, 1], false)).toMatchObject({ value: 1, ...wilson(3, 3) });
    expect(estimate([0, 0, 0], false)).toMatchObject({ value: 0, ...wilson(0, 3) });
  });

  it("has no interval for one problem with several samples", () => {
    const found = estimate([0.25], false);
    expect(found.value).toBe(0.25);
    expect(found.low).toBeNaN();
    expect(found.standardError).toBeNaN();
  });

  it("never leaves [0, 1]", () => {
    const { low, high } = estimate([0.9, 1, 1, 0.95, 0.05], false);
    expect(low).toBeGreaterThanOrEqual(0);
    expect(high).toBe(1);
  });

  it("refuses NaN, shares above 1 and nothing at all", () => {
    expect(errorCode(() => estimate([0.5, Number.NaN], false))).toBe("ERR_ARGUMENT_VALUE");
    expect(errorCode(() => estimate([1.5], false))).toBe("ERR_ARGUMENT_VALUE");
    expect(errorCode(() => estimate([], false))).toBe("ERR_SHAPE");
  });
});

describe("average", () => {
  const of = (value: number, standardError: number, problems: number): Estimate => ({
    value,
    standardError,
    problems,
    low: 0,
    high: 1,
  });

  it("weighs every set alike: the row of PURE's evaluation of its verl branch", () => {
    const row = [
      of(0.067, 0.03, 30),
      of(0.475, 0.04, 40),
      of(0.736, 0, 500),
      of(0.331, 0, 272),
      of(0.375, 0, 675),
    ];
    const found = average(row);
    expect(found.value).toBeCloseTo(0.3968, 12);
    // sqrt(0.03^2 + 0.04^2) / 5
    expect(found.standardError).toBeCloseTo(0.01, 12);
    expect(found.low).toBeCloseTo(0.3968 - 0.0195996, 6);
    expect(found.problems).toBe(1517);
  });

  it("refuses nothing", () => {
    expect(errorCode(() => average([]))).toBe("ERR_SHAPE");
  });
});
