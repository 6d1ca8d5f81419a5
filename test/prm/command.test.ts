// minform score as a user runs it; in a process of its own where signals, pipes or standard input matter.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { run } from "../cli/in-process.ts";
import { minform } from "../cli/process.ts";
import { sharedPath } from "../support/checkpoints.ts";
import { expectedRows } from "../support/expected.ts";
import { at, copyOf, folder, light, lines, linesDone, pure, read, until } from "./command-files.ts";

const rows = Array.from({ length: 150 }, (_, i) =>
  JSON.stringify({
    id: i,
    question: `What is ${i} + ${i}?`,
    response: `We add ${i} and ${i}.\n\nIt is ${2 * i}.${"\n\nSo it is.".repeat(i % 4)}`,
  }),
);
const score = (...args: string[]): string[] => ["score", "--model", light, ...args];
const job = (out: string): string[] =>
  score("--in", at("in.jsonl"), "--out", at(out), "--batch-tokens", "64");

/** The checkpoint with another config. */
function withConfig(change: object): string {
  const config = JSON.parse(readFileSync(join(pure!, "config.json"), "utf8"));
  return copyOf(light, { "config.json": JSON.stringify({ ...config, ...change }) });
}

/** A two-layer PRM with the tokenizer of another. */
function withTokenizer(): string {
  const names = ["tokenizer.json", "tokenizer_config.json"];
  const files = names.map((name) => [name, readFileSync(join(light, name), "utf8")]);
  return copyOf(sharedPath("checkpoints", "qwen-prm-tiny")!, Object.fromEntries(files));
}

describe.skipIf(pure === undefined)("minform score", { timeout: 300_000 }, () => {
  beforeAll(async () => {
    writeFileSync(at("in.jsonl"), rows.join("\n"));
    expect((await run(...job("whole.jsonl"))).code).toBe(0);
  }, 120_000);

  it("from standard input to standard output: the reference's rewards, bad rows by line", async () => {
    const expected = expectedRows(pure!);
    const input = lines(expected.map((row) => JSON.stringify(row)).join("\n"));
    const { stdout, stderr, code } = await minform([...score("--in", "-", "--out", "-"), "--model", pure!], {
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
    const again = await run(...job(out), "--resume");
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
    const other = await run(...job("cut.jsonl"), "--resume", "--aggregate", "mean");
    expect(other.code).toBe(1);
    expect(other.stderr).toMatch(/other options; run without --resume to start over/);
    expect((await run(...job("cut.jsonl"), "--resume")).code).toBe(0);
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
    const result = await run(...score("--in", at("bad.jsonl"), "--out", at("good.jsonl"), "--strict"));
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/bad\.jsonl:2: .*the model's context 4096/);
    expect(result.stderr).toMatch(/bad\.jsonl:3: steps: expected at least one step/);
    expect(lines(read("good.jsonl")).map((line) => JSON.parse(line).id)).toEqual([0, 1]);
  });

  it("--quantize: tells what it changes, in units of the score", async () => {
    process.env.MINFORM_CACHE = at("cache");
    const { code, stderr } = await run(...job("int4.jsonl"), "--quantize", "int4");
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
