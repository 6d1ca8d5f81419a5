import { describe, expect, it } from "vitest";
import {
  type Beam,
  beamSearch,
  bestOfN,
  bestOfPowers,
  diverseSearch,
  majority,
  sameText,
  type ScoreBeams,
  selectRows,
  type StepGenerator,
  weightedMajority,
} from "../../lib/prm/index.ts";
import { errorCode } from "../support/compare.ts";

describe("best of N and votes", () => {
  it("best: the first of equal ones, never NaN", () => {
    expect(bestOfN([0.1, 0.7, 0.7])).toBe(1);
    expect(bestOfN([Number.NaN, 0.1])).toBe(1);
    expect(bestOfN([Number.NaN])).toBe(-1);
    expect(errorCode(() => bestOfN([]))).toBe("ERR_SHAPE");
    expect(bestOfPowers([0.1, 0.5, 0.2, 0.9, 0.3])).toEqual([
      { n: 1, index: 0 },
      { n: 2, index: 1 },
      { n: 4, index: 3 },
      { n: 5, index: 3 },
    ]);
  });

  it("majority: counts, the first answer wins ties, no answer does not vote", async () => {
    const vote = await majority(["2", "3", null, "3", "2", undefined]);
    expect(vote.answer).toBe("2");
    expect(vote.groups.map(({ weight }) => weight)).toEqual([2, 2]);
    expect((await majority([null])).index).toBe(-1);
  });

  it("weighted majority: sums per answer, compared by the function passed in", async () => {
    const same = (a: string, b: string): boolean => Number(a) === Number(b);
    const vote = await weightedMajority(["0.5", "3", ".50"], [0.3, 0.5, 0.3], same);
    expect(vote).toMatchObject({ answer: "0.5", index: 0 });
    expect(vote.groups[0]).toMatchObject({ members: [0, 2], weight: 0.6 });
    const literal = await weightedMajority(["0.5", "3", ".50"], [0.3, 0.5, 0.3]);
    expect(literal.answer).toBe("3");
  });

  it("a comparison that is not transitive: each answer votes once, with the first group that it joins", async () => {
    const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1;
    const calls: [number, number][] = [];
    const vote = await weightedMajority([1, 2, 3, 2.5], [0.25, 0.25, 0.5, 0.25], async (a, b) => {
      calls.push([a, b]);
      return near(a, b);
    });
    expect(vote.groups).toEqual([
      { answer: 1, members: [0, 1], weight: 0.5 },
      { answer: 3, members: [2, 3], weight: 0.75 },
    ]);
    expect(vote.answer).toBe(3);
    // The answer that was there first, then the new one; never against other members of a group.
    expect(calls).toEqual([
      [1, 2],
      [1, 3],
      [1, 2.5],
      [3, 2.5],
    ]);
    const failing = weightedMajority(["a", "b"], [1, 1], () => Promise.reject(new Error("no verdict")));
    await expect(failing).rejects.toThrow("no verdict");
  });

  it("answers as text: composed alike, blanks beside signs do not count, others do", () => {
    expect(sameText(" 1 / 2\n", "1/2")).toBe(true);
    expect(sameText("\\frac{1}{2} \\pi", "\\frac{1}{2}\\pi")).toBe(true);
    expect(sameText("caf\u00e9", "cafe\u0301")).toBe(true);
    expect(sameText("x  y", "x y")).toBe(true);
    expect(sameText("1 2", "12")).toBe(false);
    expect(sameText("1/2", "0.5")).toBe(false);
  });

  it("weights that would vote against their answer are an error", async () => {
    await expect(weightedMajority(["a"], [-0.5])).rejects.toMatchObject({ code: "ERR_ARGUMENT_VALUE" });
    await expect(weightedMajority(["a"], [])).rejects.toMatchObject({ code: "ERR_SHAPE" });
    expect((await weightedMajority(["a", "b"], [Number.NaN, 0.1])).answer).toBe("b");
  });

  it("rows: grouped by problem, scores taken or made anew in their range", async () => {
    const rows = [
      { question: "q", id: 1, answer: "2", step_rewards: [0.9, -0.9], score: 0.3, convention: "pure" },
      { question: "q", id: 2, answer: "3", step_rewards: [0.1, 0.2], score: 0.1, convention: "pure" },
      { question: "r", id: 3, answer: "5", step_rewards: [0], score: null, convention: "pure" },
    ];
    const best = await selectRows(rows, { method: "best-of-n" });
    expect(best.map(({ row }) => row?.id)).toEqual([1, undefined]);
    const min = await selectRows(rows, { method: "best-of-n", aggregate: "min", probability: true });
    expect(min.map(({ row }) => row?.id)).toEqual([2, 3]);
    await expect(selectRows(rows, { method: "best-of-n", aggregate: "min" })).rejects.toMatchObject({
      code: "ERR_SCORE_RANGE",
    });
    const bare = rows.map(({ score: _, ...row }) => row);
    await expect(selectRows(bare, { method: "best-of-n" })).rejects.toThrow(/^row 1: expected a score/);
    const first = await selectRows(rows, { method: "majority", n: 1 });
    expect(first[0]).toMatchObject({ n: 1, votes: [{ answer: "2", count: 1, weight: 1 }] });
  });
});

// Digits 1..9 as steps; a solution is better the larger its digits are, and done after three.
const generator: StepGenerator = {
  next: async (_, beams, count) =>
    beams.map((beam) =>
      Array.from({ length: count }, (__, i) => ({
        step: String((i % 4) + 1),
        done: beam.steps.length === 2,
      })),
    ),
};
const score: ScoreBeams = async (_, solutions) =>
  solutions.map((steps) => steps.reduce((sum, step) => sum + Number(step), 0));

describe("search", () => {
  it("beam search keeps the best, drops duplicates and stops at the end", async () => {
    const seen: Beam[][] = [];
    const { solutions, iterations } = await beamSearch("q", generator, score, {
      n: 8,
      width: 4,
      onIteration: (_, beams) => seen.push([...beams]),
    });
    expect(iterations).toBe(3);
    expect(seen[0]!.map(({ steps }) => steps.join(""))).toEqual(["4", "3"]);
    expect(solutions[0]).toMatchObject({ steps: ["4", "4", "4"], score: 12, done: true });
    expect(new Set(solutions.map(({ steps }) => steps.join(""))).size).toBe(solutions.length);
  });

  it("DVTS: independent trees, each with its own best child", async () => {
    const trees: StepGenerator = {
      next: async (_, beams) =>
        beams.map(({ tree, steps }) => [
          { step: String(tree + 1), done: steps.length === 2 },
          { step: String(tree + 2), done: steps.length === 2 },
        ]),
    };
    const { solutions } = await diverseSearch("q", trees, score, { n: 6, width: 2 });
    expect(solutions.map(({ tree, score: value }) => [tree, value])).toEqual([
      [2, 12],
      [1, 9],
      [0, 6],
    ]);
  });

  it("limits, empty proposals, bad options and cancellation", async () => {
    const endless: StepGenerator = {
      next: async (_, beams) => beams.map(() => [{ step: "1", done: false }]),
    };
    const cut = await beamSearch("q", endless, score, { n: 2, width: 1, maxSteps: 5 });
    expect(cut).toMatchObject({ iterations: 5 });
    expect(cut.solutions[0]!.steps).toHaveLength(5);
    const none = await beamSearch("q", { next: async () => [] }, score, { n: 2, width: 1 });
    expect(none.iterations).toBe(0);
    await expect(beamSearch("q", endless, score, { n: 3, width: 2 })).rejects.toMatchObject({
      code: "ERR_ARGUMENT_VALUE",
    });
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(beamSearch("q", endless, score, { n: 2, width: 1, signal })).rejects.toThrow("enough");
  });
});
