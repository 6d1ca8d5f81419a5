// The commands as a user runs them, on a reference checkpoint.
import type { ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { run } from "../cli/in-process.ts";
import { minform } from "../cli/process.ts";
import { sharedPath } from "../support/checkpoints.ts";
import { expectedRows } from "../support/expected.ts";

const pure = sharedPath("checkpoints", "pure-prm-tiny");
if (pure === undefined) console.info("commands on a checkpoint: skipped, no shared data");
const folder = mkdtempSync(join(tmpdir(), "minform-command-"));
const at = (name: string): string => join(folder, name);
const read = (name: string): string => readFileSync(at(name), "utf8");
const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
const copies: string[] = [];
afterEach(() => vi.restoreAllMocks());
afterAll(() => {
  for (const path of [folder, ...copies]) rmSync(path, { recursive: true, force: true });
});

const rows = Array.from({ length: 150 }, (_, i) =>
  JSON.stringify({
    id: i,
    question: `What is ${i} + ${i}?`,
    response: `We add ${i} and ${i}.\n\nIt is ${2 * i}.${"\n\nSo it is.".repeat(i % 4)}`,
  }),
);
const score = (...args: string[]): string[] => ["score", "--model", pure!, ...args];
const job = (out: string): string[] =>
  score("--in", at("in.jsonl"), "--out", at(out), "--batch-tokens", "64");

/** The checkpoint with another config. */
function withConfig(change: object): string {
  const copy = mkdtempSync(join(tmpdir(), "minform-config-"));
  copies.push(copy);
  cpSync(pure!, copy, { recursive: true });
  const config = JSON.parse(readFileSync(join(pure!, "config.json"), "utf8"));
  rmSync(join(copy, "config.json"));
  writeFileSync(join(copy, "config.json"), JSON.stringify({ ...config, ...change }));
  return copy;
}

/** A two-layer PRM whose tokenizer is the stock one. */
function withTokenizer(): string {
  const copy = mkdtempSync(join(tmpdir(), "minform-stock-"));
  copies.push(copy);
  cpSync(sharedPath("checkpoints", "qwen-prm-tiny")!, copy, { recursive: true });
  for (const name of ["tokenizer.json", "tokenizer_config.json"]) {
    rmSync(join(copy, name));
    cpSync(join(pure!, name), join(copy, name));
  }
  return copy;
}

/** Waits until a condition holds or the process has ended. */
async function until(child: ChildProcess, condition: () => boolean): Promise<void> {
  while (!condition() && child.exitCode === null && child.signalCode === null)
    await new Promise((done) => setTimeout(done, 1));
}

/** Lines that a job in progress has dealt with. */
function linesDone(out: string): number {
  try {
    return JSON.parse(read(`${out}.resume.json`)).lines;
  } catch {
    return 0;
  }
}

describe.skipIf(pure === undefined)("minform score", { timeout: 300_000 }, () => {
  beforeAll(async () => {
    writeFileSync(at("in.jsonl"), rows.join("\n"));
    expect((await minform(job("whole.jsonl"))).code).toBe(0);
  }, 120_000);

  it("from standard input to standard output: the reference's rewards, bad rows by line", async () => {
    const expected = expectedRows(pure!);
    const input = lines(expected.map((row) => JSON.stringify(row)).join("\n"));
    const { stdout, stderr, code } = await minform(score("--in", "-", "--out", "-"), {
      input: [input[0], "nonsense", ...input.slice(1)].join("\n"),
    });
    expect(stderr).toMatch(/^standard input:2: no JSON/m);
    expect(code).toBe(0);
    const out = lines(stdout).map((line) => JSON.parse(line));
    expect(out).toHaveLength(expected.length);
    out.forEach((row, i) => {
      expect(row).toMatchObject({ convention: "pure", aggregate: "soft-min", model: pure });
      expect(row.step_rewards).toHaveLength(expected[i]!.step_rewards!.length);
      row.step_rewards.forEach((reward: number, k: number) => {
        expect(Math.abs(reward - expected[i]!.step_rewards![k]!)).toBeLessThanOrEqual(2e-5);
      });
    });
  });

  it.each<[string, (out: string) => boolean]>([
    ["before the first row", (out) => existsSync(at(`${out}.partial`))],
    ["in the middle", (out) => linesDone(out) >= 70],
    ["near the end", (out) => linesDone(out) >= 130],
  ])("killed %s and run again with --resume, the file is the same", async (when, reached) => {
    const out = `killed ${when}.jsonl`;
    const killed = await minform(job(out), {
      meanwhile: async (child) => {
        await until(child, () => reached(out));
        child.kill("SIGKILL");
      },
    });
    expect(killed.code).toBeNull();
    expect(existsSync(at(out))).toBe(false);
    const done = linesDone(out);
    const again = await minform([...job(out), "--resume"]);
    expect(again.code).toBe(0);
    if (done > 0) expect(again.stderr).toContain(`went on after line ${done}`);
    expect(read(out)).toBe(read("whole.jsonl"));
    expect(readdirSync(folder).filter((name) => name.startsWith(out))).toEqual([out]);
  });

  it("Ctrl-C ends a job between two batches with 130, and says how to go on", async () => {
    const stopped = await minform(job("cut.jsonl"), {
      meanwhile: async (child) => {
        await until(child, () => linesDone("cut.jsonl") > 0);
        child.kill("SIGINT");
      },
    });
    expect(stopped.code).toBe(130);
    expect(stopped.stderr).toMatch(/cancelled by SIGINT; rerun with --resume to go on/);
    expect(existsSync(at("cut.jsonl"))).toBe(false);
    expect(linesDone("cut.jsonl")).toBeLessThan(rows.length);
    const other = await minform([...job("cut.jsonl"), "--resume", "--aggregate", "mean"]);
    expect(other.code).toBe(1);
    expect(other.stderr).toMatch(/other options; run without --resume to start over/);
    expect((await minform([...job("cut.jsonl"), "--resume"])).code).toBe(0);
    expect(read("cut.jsonl")).toBe(read("whole.jsonl"));
  });

  it("Ctrl-C ends a job that waits for standard input", async () => {
    const { code, stderr } = await minform(score("--in", "-", "--out", "-"), {
      meanwhile: (child) => {
        child.stdin!.write(`${rows[0]}\n`);
        child.stderr!.on("data", (text) => {
          // Loaded, and waiting for more.
          if (String(text).includes("convention pure")) setTimeout(() => child.kill("SIGINT"), 2500);
        });
      },
    });
    expect(code).toBe(130);
    expect(stderr).toMatch(/cancelled by SIGINT/);
  });

  it("a reader that goes away ends the job with one line, not with a crash", async () => {
    const { code, stderr } = await minform(
      score("--in", at("in.jsonl"), "--out", "-", "--batch-tokens", "64"),
      {
        meanwhile: (child) => child.stdout!.destroy(),
      },
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/^minform: standard output: .*EPIPE/m);
    expect(stderr).not.toMatch(/at .*\.js:\d+/);
  });

  it.each<[string, () => string[], RegExp]>([
    [
      "an input that is not there",
      () => score("--in", at("none.jsonl"), "--out", at("x.jsonl")),
      /none\.jsonl: cannot be read/,
    ],
    [
      "an output without a folder",
      () => score("--in", at("in.jsonl"), "--out", at("no/x.jsonl")),
      /x\.jsonl: cannot be written/,
    ],
    [
      "a model that is not there",
      () => [...job("x.jsonl"), "--model", at("none")],
      /no such folder, and not a hub id/,
    ],
    ["an aggregator of another range", () => [...job("x.jsonl"), "--aggregate", "min"], /min/],
    ["an unknown convention", () => [...job("x.jsonl"), "--convention", "nothing"], /expected one of pure, /],
    ["a convention without its head", () => [...job("x.jsonl"), "--convention", "qwen-prm"], /qwen-prm/],
    [
      "an unknown architecture",
      () => [
        ...job("x.jsonl"),
        "--model",
        withConfig({ architectures: ["GPT2LMHeadModel"], model_type: "gpt2" }),
      ],
      /gpt2/i,
    ],
    [
      "a tokenizer without the marker",
      () => [...job("x.jsonl"), "--model", withTokenizer()],
      /no added token <extra_0>/,
    ],
  ])("%s is refused soon, with nothing written", async (_, args, message) => {
    const line = args();
    const before = readdirSync(folder);
    const started = performance.now();
    const { code, stderr } = await run(...line);
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^minform: /);
    expect(readdirSync(folder)).toEqual(before);
  });

  it("rows that cannot be scored cost a line each, --strict the exit code", async () => {
    const long = JSON.stringify({ question: "q", steps: ["word ".repeat(100_000)] });
    writeFileSync(at("bad.jsonl"), [rows[0], long, '{"question":"q","steps":[]}', rows[1]].join("\n"));
    const started = performance.now();
    const result = await minform(score("--in", at("bad.jsonl"), "--out", at("good.jsonl"), "--strict"));
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/bad\.jsonl:2: .*the model's context 4096/);
    expect(result.stderr).toMatch(/bad\.jsonl:3: steps: expected at least one step/);
    expect(lines(read("good.jsonl")).map((line) => JSON.parse(line).id)).toEqual([0, 1]);
  });

  it("--quantize: tells what it changes, in units of the score", async () => {
    process.env.MINFORM_CACHE = at("cache");
    const { code, stderr } = await minform([...job("int4.jsonl"), "--quantize", "int4"]);
    delete process.env.MINFORM_CACHE;
    expect(code).toBe(0);
    const told =
      /int4 weights change scores by (\S+) on average, (\S+) at most \((\d+) steps of the first 8 rows\)/.exec(
        stderr,
      );
    const rewards = (name: string): number[] =>
      lines(read(name))
        .slice(0, 8)
        .flatMap((line) => JSON.parse(line).step_rewards);
    const differences = rewards("whole.jsonl").map((reward, k) =>
      Math.abs(reward - rewards("int4.jsonl")[k]!),
    );
    expect(Number(told![3])).toBe(differences.length);
    expect(Math.max(...differences)).toBeGreaterThan(1e-4);
    // Told with three digits.
    const told3 = (text: string, value: number): void =>
      expect(Math.abs(Number(text) / value - 1)).toBeLessThanOrEqual(0.006);
    told3(told![2]!, Math.max(...differences));
    told3(told![1]!, differences.reduce((a, b) => a + b) / differences.length);
  });
});

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
      pure!,
      "--data",
      at("toy.json"),
      at("other.json"),
      "--threshold",
      "2",
    ];
    const { stdout, code } = await minform([...args, "--json", "--out", at("bench.jsonl")]);
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
    const table = await minform([...args, "--sweep"]);
    expect(table.stdout).toMatch(/toy +│ 100\.0 +│ 0\.0 /);
    expect(table.stdout).toMatch(/best F1 here/);
    expect(table.stdout).toMatch(/threshold 2, average F1/);
    expect((await minform([...args, "--resume"])).stderr).toMatch(/--resume: expected --out/);
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
    const args = ["prmbench", "--model", pure!, "--data", at("prm.jsonl"), "--batch-tokens", "64", "--json"];
    const whole = await minform([...args, "--out", at("prm whole.jsonl"), "--threshold", "-2"]);
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
    expect(JSON.parse((await minform([...cut, "--resume"])).stdout)).toEqual(result);
    expect(read("prm cut.jsonl")).toBe(read("prm whole.jsonl"));
    const table = await minform([...args.slice(0, -1), "--sweep", "--redundancy-threshold", "0.15"]);
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
    const report = JSON.parse((await minform(["doctor", "--model", pure!, "--json"])).stdout);
    expect(report.versions.node).toBe(process.version);
    expect(report.checkpoint).toMatchObject({ heads: ["token-classification (2)"], context: 4096 });
    expect(report.checkpoint.convention).toMatch(/^pure/);
  });
});
