// Faults that users of other scorers reported, by where: what is made of the scores.
import { describe, expect, it } from "vitest";
import { minForm, ragged, sum } from "../../lib/index.ts";
import {
  aggregate,
  createPrm,
  evaluatePrmBench,
  firstError,
  parsePrmBench,
  processBenchMetrics,
  splitSteps,
  stepScores,
} from "../../lib/prm/index.ts";
import { fakeRunner } from "../support/runner.ts";
import { toyParts } from "../support/toy-prm.ts";

describe("semantics", () => {
  it("PURE#2: the same text in more steps: min-form depends on the scores, a sum on their number", () => {
    const text = "a\nb\nc\n\nd\ne\n\nf\ng\nh";
    const counts = [splitSteps(text, "\n\n").length, splitSteps(text, "\n").length];
    expect(counts).toEqual([3, 8]);
    const rewards = ragged(counts.map((count) => new Float64Array(count).fill(0.5)));
    for (const outcome of minForm(rewards).outcomes) expect(outcome).toBeCloseTo(0.5, 12);
    expect([...sum(rewards).outcomes]).toEqual([1.5, 4]);
    const [three, eight] = counts.map((count) => stepScores(new Array(count).fill(0.5), "signed"));
    expect(aggregate(three!, "soft-min")).toBe(aggregate(eight!, "soft-min"));
  });

  it("prm800k#7, #8: product aggregation punishes long solutions", () => {
    const long = stepScores(new Array(10).fill(0.95), "probability");
    const short = stepScores([0.9, 0.9, 0.9], "probability");
    expect(aggregate(long, "product")).toBeCloseTo(0.599, 3);
    expect(aggregate(short, "product")).toBeCloseTo(0.729, 12);
    expect([aggregate(long, "min"), aggregate(short, "min")]).toEqual([0.95, 0.9]);
  });

  it("ProcessBench#3, #6, #14; PURE#18: F1 of exact matches, with the threshold beside it", () => {
    expect(processBenchMetrics([-1, 2], [-1, 2], 0.5)).toMatchObject({ f1: 1, threshold: 0.5 });
    expect(processBenchMetrics([-1, 2], [-1, 1], 0.5)).toMatchObject({
      f1: 0,
      errorAccuracy: 0,
      correctAccuracy: 1,
    });
    expect(firstError([0.9, 0.4, 0.1], 0.5)).toBe(1);
    expect(firstError([0.9, 0.5], 0.5)).toBe(-1);
  });

  it("PRMBench#7, PR#6: error_steps count from 1", () => {
    const [row] = parsePrmBench([
      {
        idx: "t",
        original_question: "q",
        modified_question: "q",
        original_process: ["a", "b", "c", "d"],
        modified_process: ["a", "b", "X", "d"],
        error_steps: [3],
        classification: "confidence",
      },
    ]);
    expect(row!.errors).toEqual([2]);
    expect(evaluatePrmBench([row!], [[0.9, 0.9, 0.1, 0.9]], 0.5).total).toMatchObject({
      f1: 1,
      negativeF1: 1,
      prmScore: 1,
      counts: { tp: 3, fp: 0, tn: 1, fn: 0 },
    });
    const shifted = evaluatePrmBench([row!], [[0.9, 0.1, 0.9, 0.9]], 0.5).total;
    expect(shifted.counts).toEqual({ tp: 2, fp: 1, tn: 0, fn: 1 });
    expect(shifted.prmScore).toBeCloseTo(0.5 * (2 / 3), 12);
  });

  it("ThinkPRM#3, inference_scaling#3: no score is NaN and flagged, not 0 and not left out", async () => {
    const prm = createPrm(toyParts({ runner: fakeRunner({ maxLength: 60 }) }), { overlong: "flag" });
    const [scores] = await prm.score([{ question: "q", steps: new Array(12).fill("We add it.") }]);
    expect(scores!.values).toHaveLength(12);
    expect(scores!.unscored.length).toBeGreaterThan(0);
    expect([...scores!.values].map(Number.isNaN)).toEqual(
      Array.from({ length: 12 }, (_, k) => scores!.unscored.includes(k)),
    );
    expect(aggregate(scores!, "mean")).toBeNaN();
    expect(aggregate(scores!, "mean", { unscored: "skip" })).toBeGreaterThan(0);
  });

  it("TRL PR#2127: a step that is ignored (null, never cast to a truth) counts as neither right nor wrong", () => {
    const scores = stepScores([0.9, null, 0.1], "probability");
    expect(scores.values[1]).toBeNaN();
    expect(firstError(scores.values, 0.5)).toBe(2);
    expect(aggregate(scores, "mean", { unscored: "skip" })).toBeCloseTo(0.5, 12);
    const row = { id: "a", question: "q", steps: ["a", "b", "c"], errors: [1, 2], classification: "x" };
    const { total } = evaluatePrmBench([row], [scores.values], 0.5);
    expect(total.counts).toEqual({ tp: 1, fp: 0, tn: 1, fn: 0 });
    // Its first wrong step is the ignored one: whether it was found is not known.
    expect(total.firstErrorAccuracy).toBeNaN();
  });
});
