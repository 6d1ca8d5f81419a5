// The benchmarks, select and doctor as a user runs them; in a process of its own where signals or standard input matter.
import { existsSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { run } from "../cli/in-process.ts";
import { minform } from "../cli/process.ts";
import { at, light, lines, linesDone, pure, read, until } from "./command-files.ts";

describe.skipIf(pure === undefined)("benchmarks", { timeout: 300_000 }, () => {
  const processBench = [
    { id: "a", problem: "p", steps: ["one", "two"], label: 0 },
    { id: "b", problem: "p", steps: ["three"], label: -1 },
  ];

  it("processbench: metrics with their threshold, from the benchmark's own form; several files in one job", async () => {
    writeFileSync(at("toy.json"), JSON.stringify(processBench));
    writeFileSync(at("other.json"), JSON.stringify(processBench.slice(0, 1)));
    const args = [
      "processbench",
      "--model",
      light,
      "--data",
      at("toy.json"),
      at("other.json"),
      "--threshold",
      "2",
    ];
    const { stdout, code } = await run(...args, "--json", "--out", at("bench.jsonl"));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      convention: "pure",
      threshold: 2,
      results: [
        { name: "toy", errorAccuracy: 1, correctAccuracy: 0, f1: 0, counts: { error: 1, correct: 1 } },
        { name: "other", errorAccuracy: 1, counts: { error: 1, correct: 0 } },
      ],
    });
    const kept = lines(read("bench.jsonl")).map((line) => JSON.parse(line));
    expect(kept.map(({ file, id, label }) => [file, id, label])).toEqual([
      ["toy", "a", 0],
      ["toy", "b", -1],
      ["other", "a", 0],
    ]);
    const table = await run(...args, "--sweep");
    expect(table.stdout).toMatch(/toy +│ 100\.0 +│ 0\.0 /);
    expect(table.stdout).toMatch(/best F1 here/);
    expect(table.stdout).toMatch(/threshold 2, average F1/);
    expect((await run(...args, "--resume")).stderr).toMatch(/--resume: expected --out/);
  });

  it("prmbench: both F1 by class, resumed after a kill like any job", async () => {
    const entry = (idx: number, classification: string, errors: number[]) => ({
      idx: String(idx),
      original_question: "q",
      modified_question: `q ${idx}`,
      original_process: ["a", "b"],
      modified_process: [`We add ${idx}.`, `It is ${idx}.`, "So"],
      error_steps: errors,
      classification,
    });
    const data = Array.from({ length: 120 }, (_, i) => entry(i, i % 2 ? "redundency" : "confidence", [2]));
    writeFileSync(at("prm.jsonl"), data.map((row) => JSON.stringify(row)).join("\n"));
    const args = ["prmbench", "--model", light, "--data", at("prm.jsonl"), "--batch-tokens", "64", "--json"];
    const whole = await run(...args, "--out", at("prm whole.jsonl"), "--threshold", "-2");
    const result = JSON.parse(whole.stdout);
    // Everything is called right: of three steps each, two are.
    expect(result.total).toMatchObject({ f1: 0.8, negativeF1: 0, prmScore: 0.4, firstErrorAccuracy: 0 });
    expect(result).toMatchObject({ threshold: -2, redundancyThreshold: -2, solutions: 180 });
    expect(Object.keys(result.classes).sort()).toEqual(["confidence", "correct", "redundency"]);
    const cut = [...args, "--out", at("prm cut.jsonl"), "--threshold", "-2"];
    await minform(cut, {
      meanwhile: async (child) => {
        await until(child, () => linesDone("prm cut.jsonl") > 0);
        child.kill("SIGKILL");
      },
    });
    expect(existsSync(at("prm cut.jsonl"))).toBe(false);
    expect(JSON.parse((await run(...cut, "--resume")).stdout)).toEqual(result);
    expect(read("prm cut.jsonl")).toBe(read("prm whole.jsonl"));
    const table = await run(...args.slice(0, -1), "--sweep", "--redundancy-threshold", "0.15");
    expect(table.stdout).toMatch(/total +│/);
    expect(table.stdout).toMatch(/threshold 0, 0\.15 for redundancy and circular/);
    expect(table.stdout).toMatch(/best PRMScore here [\d.]+ at/);
  });
});

describe("minform select and doctor", { timeout: 120_000 }, () => {
  it("select: best of N over scored rows, with accuracy", async () => {
    const scored = [0.2, 0.9, 0.4].map((value, i) => ({
      question: "q",
      score: value,
      answer: i,
      right: i === 1,
    }));
    const { stdout, stderr } = await minform(["select", "--in", "-", "--correct", "right"], {
      input: scored.map((row) => JSON.stringify(row)).join("\n"),
    });
    expect(lines(stdout).map((line) => JSON.parse(line))).toMatchObject([
      { answer: 1, selection: { method: "best-of-n", n: 3, score: 0.9 } },
    ]);
    expect(stderr).toMatch(/1 problems, 1 with a choice, 1 right \(100\.00 %\)/);
  });

  it("select: a weighted vote of answers that are the same text but for blanks", async () => {
    const scored = [
      ["1/2", 0.5],
      ["0.6", 0.8],
      [" 1 / 2", 0.4],
    ].map(([answer, value]) => ({ question: "q", answer, score: value }));
    const { stdout } = await minform(["select", "--in", "-", "--method", "weighted-majority"], {
      input: scored.map((row) => JSON.stringify(row)).join("\n"),
    });
    const { answer, selection } = JSON.parse(stdout);
    expect(answer).toBe("1/2");
    expect(selection.votes).toMatchObject([
      { answer: "1/2", count: 2, weight: 0.9 },
      { answer: "0.6", count: 1, weight: 0.8 },
    ]);
  });

  it.skipIf(pure === undefined)("doctor: what a checkpoint needs", async () => {
    const report = JSON.parse((await run("doctor", "--model", pure!, "--json")).stdout);
    expect(report.versions.node).toBe(process.version);
    expect(report.checkpoint).toMatchObject({ heads: ["token-classification (2)"], context: 4096 });
    expect(report.checkpoint.convention).toMatch(/^pure/);
  });
});
