import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { histogram, rocArea, rocCurve, separate } from "../../lib/rollouts/ranking.ts";
import { Slope, Spread } from "../../lib/metrics/spread.ts";
import { seeded } from "../support/generators.ts";

const scored = fc.array(fc.tuple(fc.integer({ min: -4, max: 4 }), fc.constantFrom(0, 1, Number.NaN)), {
  minLength: 1,
  maxLength: 30,
});

function split(rows: (readonly [number, number])[]) {
  return separate(
    rows.map(([score]) => score),
    rows.map(([, correct]) => correct),
  );
}

describe("ranking by outcome", () => {
  it("the area is the chance that right is above wrong, a tie counting half", () => {
    fc.assert(
      fc.property(scored, (rows) => {
        const { right, wrong } = split(rows);
        let wins = 0;
        for (const a of right) for (const b of wrong) wins += a > b ? 1 : a === b ? 0.5 : 0;
        const expected = wins / (right.length * wrong.length);
        const area = rocArea({ right, wrong });
        expect(Number.isNaN(area)).toBe(Number.isNaN(expected));
        if (!Number.isNaN(expected)) expect(area).toBeCloseTo(expected, 12);
      }),
      seeded,
    );
  });

  it("the area under the drawn curve is the area", () => {
    fc.assert(
      fc.property(scored, (rows) => {
        const separation = split(rows);
        const curve = rocCurve(separation);
        if (curve.length === 0) return;
        expect(curve[0]).toEqual([0, 0]);
        expect(curve.at(-1)).toEqual([1, 1]);
        const area = curve
          .slice(1)
          .reduce((sum, [x, y], i) => sum + ((x - curve[i]![0]) * (y + curve[i]![1])) / 2, 0);
        expect(area).toBeCloseTo(rocArea(separation), 12);
      }),
      seeded,
    );
  });

  it("the curve of many scores has a bounded number of points", () => {
    const scores = Array.from({ length: 5000 }, (_, i) => Math.sin(i));
    const curve = rocCurve(
      separate(
        scores,
        scores.map((_, i) => i % 2),
      ),
    );
    expect(curve.length).toBeLessThanOrEqual(102);
    expect(curve.at(-1)).toEqual([1, 1]);
  });

  it("rounding noise does not decide a rank", () => {
    expect(rocArea(separate([1.0000000000000004, 1], [0, 1]))).toBe(0.5);
  });

  it("every known answer is in one bin of the histogram", () => {
    fc.assert(
      fc.property(scored, (rows) => {
        const { right, wrong } = split(rows);
        const bins = histogram({ right, wrong });
        expect(bins.reduce((sum, bin) => sum + bin.right, 0)).toBe(right.length);
        expect(bins.reduce((sum, bin) => sum + bin.wrong, 0)).toBe(wrong.length);
      }),
      seeded,
    );
  });
});

describe("spread and slope", () => {
  it("of nothing are NaN, of one value that value", () => {
    expect(new Spread().summary()).toEqual({ count: 0, mean: Number.NaN, max: Number.NaN, min: Number.NaN });
    const spread = new Spread();
    spread.add(-2);
    expect(spread.summary()).toEqual({ count: 1, mean: -2, max: -2, min: -2 });
    const slope = new Slope();
    slope.add(1, 2);
    slope.add(1, 3);
    expect(slope.value).toBeNaN();
  });

  it("the slope of a line is its slope", () => {
    const slope = new Slope();
    for (const x of [1, 2, 5, 9]) slope.add(x, 3 - 0.25 * x);
    expect(slope.value).toBeCloseTo(-0.25, 12);
  });
});
