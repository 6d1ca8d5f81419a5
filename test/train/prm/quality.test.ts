import { describe, expect, it } from "vitest";
import { measurePrm } from "../../../lib/train/prm/quality.ts";

function solution(labels: (boolean | null)[]) {
  const ends = Int32Array.from(labels, (_, k) => k + 1);
  return { ids: new Int32Array(labels.length + 1), ends, labels };
}

async function measure(rows: { labels: (boolean | null)[]; scores: number[] }[]) {
  const offsets = Int32Array.from([0, ...rows.map(({ scores }) => scores.length)]);
  for (let i = 1; i < offsets.length; i++) offsets[i]! += offsets[i - 1]!;
  const data = Float32Array.from(rows.flatMap(({ scores }) => scores));
  const scorer = { score: () => Promise.resolve({ data, offsets }) };
  return measurePrm(
    scorer,
    rows.map(({ labels }) => solution(labels)),
  );
}

describe("the quality of a PRM", () => {
  it("counts labelled steps, first errors, and right solutions", async () => {
    const quality = await measure([
      { labels: [true, false, null], scores: [0.5, -0.1, 0.75] }, // found
      { labels: [false, null], scores: [0.1, 0.25] }, // missed
      { labels: [true, false], scores: [-0.2, -0.9] }, // named too early
      { labels: [true, true], scores: [0.9, 0] }, // kept: 0 is not below
      { labels: [true], scores: [-0.5] }, // not kept
    ]);
    expect(quality.accuracy).toBeCloseTo(5 / 8, 12);
    expect(quality.errors).toBeCloseTo(1 / 3, 12);
    expect(quality.correct).toBeCloseTo(1 / 2, 12);
    expect(quality.f1).toBeCloseTo((2 * (1 / 3) * (1 / 2)) / (1 / 3 + 1 / 2), 12);
    expect(quality.afterError).toBeCloseTo(0.5, 6);
  });

  it("leaves solutions out of F1 whose first wrong step is not known", async () => {
    const quality = await measure([
      { labels: [null, false], scores: [0.5, -0.1] },
      { labels: [true, null], scores: [0.5, -0.1] },
      { labels: [true], scores: [0.5] },
    ]);
    expect(quality.accuracy).toBe(1);
    expect(quality.correct).toBe(1);
    expect([quality.errors, quality.f1, quality.afterError]).toEqual([null, null, null]);
  });
});
