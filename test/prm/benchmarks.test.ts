import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  candidateThresholds,
  evaluatePrmBench,
  evaluateProcessBench,
  parsePrmBench,
  parseProcessBench,
  sweepThresholds,
} from "../../lib/prm/index.ts";
import { errorCode } from "../support/compare.ts";
import { sharedPath } from "../support/checkpoints.ts";

const row = (label: number, count = 3) => ({
  id: "x",
  problem: "p",
  steps: new Array(count).fill("s"),
  label,
});

describe("ProcessBench", () => {
  it("index of the first step below the threshold, exact match, F1", () => {
    const rows = parseProcessBench([row(1), row(-1), row(0), row(-1)]);
    const scores = [
      [0.9, 0.1, 0.1],
      [0.9, 0.9, 0.9],
      [0.9, 0.1, 0.1],
      [0.9, 0.2, 0.9],
    ];
    const result = evaluateProcessBench(rows, scores, 0.5);
    expect(result).toEqual({
      threshold: 0.5,
      errorAccuracy: 0.5,
      correctAccuracy: 0.5,
      f1: 0.5,
      counts: { error: 2, correct: 2 },
    });
    expect(
      evaluateProcessBench(
        rows,
        scores.map((s) => s.map(() => 0)),
        0.5,
      ).f1,
    ).toBe(0);
    const sweep = sweepThresholds((t) => evaluateProcessBench(rows, scores, t), candidateThresholds(scores));
    // at 0.15 the last row's 0.2 passes
    expect(sweep.best.f1).toBeCloseTo((2 * 0.5 * 1) / 1.5, 12);
    expect(sweep.best.threshold).toBeCloseTo(0.15, 12);
  });

  it("names the row at fault", () => {
    expect(() => parseProcessBench([row(3)], "gsm8k.json")).toThrow(/gsm8k.json: row 0: label/);
    expect(() => parseProcessBench([row(0), { id: "x" }])).toThrow(/row 1: problem/);
    expect(errorCode(() => parseProcessBench({}))).toBe("ERR_INPUT");
    expect(errorCode(() => evaluateProcessBench(parseProcessBench([row(0)]), [[0.1]], 0.5))).toBe(
      "ERR_SHAPE",
    );
  });

  const real = sharedPath("data", "processbench", "gsm8k.json");
  it.skipIf(real === undefined)("reads the benchmark's own file; the labels themselves score F1 1", () => {
    const rows = parseProcessBench(JSON.parse(readFileSync(real!, "utf8")));
    expect(rows).toHaveLength(400);
    const scores = rows.map(({ steps, label }) => steps.map((_, k) => (label >= 0 && k >= label ? 0 : 1)));
    expect(evaluateProcessBench(rows, scores, 0.5)).toMatchObject({
      f1: 1,
      counts: { error: 207, correct: 193 },
    });
  });
});

describe("PRMBench", () => {
  const real = sharedPath("data", "prmbench", "prmbench_subset400.jsonl");
  it.skipIf(real === undefined)("reads the benchmark's own file; the labels themselves score 1", () => {
    const lines = readFileSync(real!, "utf8").trim().split("\n");
    const rows = parsePrmBench(lines.map((line) => JSON.parse(line)));
    expect(rows.filter(({ classification }) => classification === "correct").length).toBeGreaterThan(0);
    const scores = rows.map(({ steps, errors }) => steps.map((_, k) => (errors.includes(k) ? 0 : 1)));
    const { total, classes } = evaluatePrmBench(rows, scores, 0.5);
    expect(total).toMatchObject({ f1: 1, negativeF1: 1, prmScore: 1 });
    expect(classes.correct).toMatchObject({ f1: 1, prmScore: 1 });
    const inverted = evaluatePrmBench(
      rows,
      scores.map((s) => s.map((x) => 1 - x)),
      0.5,
    );
    expect(inverted.total.prmScore).toBe(0);
  });

  it("redundancy has a threshold of its own, and multi_solutions is F1 alone", () => {
    const rows = [
      { id: "a", question: "q", steps: ["s", "t"], errors: [1], classification: "redundency" },
      { id: "b", question: "q", steps: ["s", "t"], errors: [], classification: "multi_solutions" },
    ];
    const scores = [
      [0.4, 0.1],
      [0.9, 0.4],
    ];
    const own = evaluatePrmBench(rows, scores, 0.5, { redundancyThreshold: 0.15 });
    expect(own.classes.redundency).toMatchObject({ prmScore: 1 });
    expect(own.classes.multi_solutions!.prmScore).toBeCloseTo(2 / 3, 12);
    expect(own.classes.multi_solutions!.negativeF1).toBe(0);
  });
});
