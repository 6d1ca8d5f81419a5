import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPrm, type Prm, type ScoreFileJob, scoreFile } from "../../lib/prm/index.ts";
import { fakeRunner } from "../support/runner.ts";
import { chatLike, toyParts } from "../support/toy-prm.ts";
import { toyTokenizer } from "../support/toy-tokenizer.ts";

let folder: string;
const at = (name: string): string => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "minform-score-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

// It gives ids in the order in which it meets words, so the runs of one test must share it.
const tokenizer = toyTokenizer();
const make = (runner = fakeRunner(), options = {}): Prm =>
  createPrm(toyParts({ tokenizer, runner }), { batchTokens: 50, ...options });
const rows = (count: number): string[] =>
  Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      id: i,
      question: `What is ${i}?`,
      steps: [`It is ${i}.`, "So it is", "Done."].slice(0, 1 + (i % 3)),
    }),
  );
const write = (lines: string[]): void => writeFileSync(at("in.jsonl"), `${lines.join("\n")}\n`);
const run = (prm: Prm, output: string, more: Partial<ScoreFileJob> = {}) =>
  scoreFile(prm, { input: at("in.jsonl"), output: at(output), ...more });
const read = (name: string): string => readFileSync(at(name), "utf8");

/** Runs until so many notes of progress were made, and stops there as if the process had ended. */
async function cut(output: string, notes: number, more: Partial<ScoreFileJob> = {}): Promise<void> {
  const controller = new AbortController();
  let last = 0;
  let seen = 0;
  const stopped = run(make(), output, {
    ...more,
    signal: controller.signal,
    onProgress: ({ lines }) => {
      if (lines > last && ++seen === notes) controller.abort(new Error("stopped"));
      last = lines;
    },
  });
  await expect(stopped).rejects.toThrow("stopped");
}

describe("scoreFile", () => {
  it("adds step_rewards, score, model, convention and aggregate, in the order of the input", async () => {
    write(rows(7));
    const result = await run(make(), "out.jsonl");
    expect(result).toMatchObject({ rows: 7, bad: [], resumed: 0 });
    const out = read("out.jsonl").trim().split("\n");
    out.forEach((line, i) => {
      const row = JSON.parse(line);
      const added = ["step_rewards", "score", "model", "convention", "aggregate"];
      expect(Object.keys(row)).toEqual(["id", "question", "steps", ...added]);
      expect(row.id).toBe(i);
      expect(row.step_rewards).toHaveLength(row.steps.length);
      expect(row.score).toBe(Math.min(...row.step_rewards));
      expect(row).toMatchObject({ model: "toy", convention: "chat-like", aggregate: "min" });
    });
    expect(readdirSync(folder).sort()).toEqual(["in.jsonl", "out.jsonl"]);
  });

  it("reports bad rows with their line and scores the rest", async () => {
    const [a, b] = rows(2) as [string, string];
    const bad = [
      "{broken",
      "",
      '{"question":"q"}',
      '{"question":"q","steps":[]}',
      '{"question":"q","steps":["x",""]}',
      "[1]",
    ];
    write([
      a,
      ...bad,
      '{"question":5,"steps":["x"]}',
      '{"prompt_ids":[1],"response_ids":["x"],"question":"q"}',
      b,
    ]);
    const seen: number[] = [];
    const result = await run(make(), "out.jsonl", { onBadRow: ({ line }) => seen.push(line) });
    expect(result.rows).toBe(2);
    expect(result.bad.map(({ line }) => line)).toEqual([2, 4, 5, 6, 7, 8, 9]);
    expect(seen).toEqual([2, 4, 5, 6, 7, 8, 9]);
    expect(result.bad[2]!.message).toMatch(/steps: expected at least one step/);
    expect(result.bad[6]!.message).toMatch(/responseIds\[0\]: expected a token id/);
    expect(read("out.jsonl").trim().split("\n")).toHaveLength(2);
  });

  it("an empty input, or one of bad rows alone, gives an empty file", async () => {
    write(["{"]);
    expect(await run(make(), "out.jsonl")).toMatchObject({ rows: 0, bad: [{ line: 1 }] });
    expect(read("out.jsonl")).toBe("");
  });

  it("steps past the context are null and listed", async () => {
    write([JSON.stringify({ question: "q", steps: new Array(20).fill("word word word.") })]);
    await run(make(fakeRunner({ maxLength: 50 }), { overlong: "flag" }), "out.jsonl");
    const row = JSON.parse(read("out.jsonl"));
    expect(row.step_rewards).toHaveLength(20);
    expect(row.step_rewards.at(-1)).toBeNull();
    expect(row.score).toBeNull();
    expect(row.unscored_steps.at(-1)).toBe(19);
  });

  it("a run that was stopped goes on and writes the same bytes, whatever the stop left behind", async () => {
    write([...rows(40), "{broken", ...rows(9)]);
    await run(make(), "whole.jsonl");
    for (const notes of [1, 2, 3]) {
      await cut("out.jsonl", notes);
      expect(existsSync(at("out.jsonl"))).toBe(false);
      appendFileSync(at("out.jsonl.partial"), `{"id": 12, "ques${"x".repeat(1e5)}`);
      const result = await run(make(), "out.jsonl", { resume: true });
      expect(result.resumed).toBeGreaterThan(0);
      expect(result).toMatchObject({ rows: 49, bad: [{ line: 41 }] });
      expect(read("out.jsonl")).toBe(read("whole.jsonl"));
      rmSync(at("out.jsonl"));
    }
    expect(readdirSync(folder).sort()).toEqual(["in.jsonl", "whole.jsonl"]);
  });

  it("stopped between the last two acts of a run (name given, note still there), it goes on too", async () => {
    write(rows(12));
    await cut("out.jsonl", 1);
    const note = read("out.jsonl.resume.json");
    const done = readFileSync(at("out.jsonl.partial"));
    writeFileSync(at("out.jsonl"), done.subarray(0, JSON.parse(note).bytes));
    rmSync(at("out.jsonl.partial"));
    const result = await run(make(), "out.jsonl", { resume: true });
    expect(result.resumed).toBeGreaterThan(0);
    const resumed = read("out.jsonl");
    await run(make(), "out.jsonl");
    expect(read("out.jsonl")).toBe(resumed);
  });

  it("without resume a run starts over, and leaves no older note for one that goes on", async () => {
    write(rows(40));
    await cut("out.jsonl", 3);
    const controller = new AbortController();
    const early = run(make(), "out.jsonl", {
      signal: controller.signal,
      onProgress: () => controller.abort(new Error("stopped")),
    });
    await expect(early).rejects.toThrow("stopped");
    expect(await run(make(), "out.jsonl", { resume: true })).toMatchObject({ rows: 40, resumed: 0 });
    const first = read("out.jsonl");
    writeFileSync(at("out.jsonl.partial"), "junk\n");
    await run(make(), "out.jsonl", { resume: true });
    expect(read("out.jsonl")).toBe(first);
  });

  it.each<[string, Partial<ScoreFileJob>, () => void, RegExp]>([
    ["another aggregator", { aggregate: "mean" }, () => {}, /other options/],
    ["other settings", { settings: { quantize: "int4" } }, () => {}, /other options/],
    ["another input", {}, () => write([...rows(40)].reverse()), /not those that were scored/],
    ["a shorter input", {}, () => write(rows(1)), /lines less/],
    ["a damaged note", {}, () => writeFileSync(at("out.jsonl.resume.json"), "{"), /damaged/],
    ["a lost partial file", {}, () => rmSync(at("out.jsonl.partial")), /expected \d+ bytes/],
  ])("refuses to go on with %s", async (_, options, change, message) => {
    write(rows(40));
    await cut("out.jsonl", 2);
    change();
    const going = run(make(), "out.jsonl", { resume: true, ...options });
    await expect(going).rejects.toMatchObject({
      code: "ERR_INPUT",
      message: expect.stringMatching(message),
    });
    expect(existsSync(at("out.jsonl"))).toBe(false);
  });

  it("refuses an aggregator of another range before anything is written, and input as output", async () => {
    write(rows(1));
    const convention = {
      ...chatLike,
      name: "signed-like",
      score: { transform: "softmax-difference", good: 1, bad: 0 },
      range: "signed",
      aggregate: "mean",
    } as const;
    const signed = createPrm(toyParts({ convention, tokenizer }));
    await expect(run(signed, "out.jsonl", { aggregate: "min" })).rejects.toMatchObject({
      code: "ERR_SCORE_RANGE",
    });
    await expect(run(make(), "in.jsonl")).rejects.toThrow(/two files/);
    expect(readdirSync(folder)).toEqual(["in.jsonl"]);
    await run(signed, "out.jsonl", { aggregate: "min", probability: true });
    const row = JSON.parse(read("out.jsonl"));
    expect(row.score).toBeCloseTo((row.step_rewards[0] + 1) / 2, 12);
    expect(row.score_range).toBe("probability");
  });

  it("outputs that are not finite cost one row, not the window", async () => {
    write(rows(3));
    const runner = fakeRunner({
      logits: (ids) => [ids.includes(tokenizer.encode("Done")[0]!) ? Number.NaN : 0, 1],
    });
    const { bad, rows: count } = await run(make(runner), "out.jsonl");
    expect([count, bad.length]).toEqual([2, 1]);
    expect(bad[0]).toMatchObject({ line: 3, message: expect.stringMatching(/expected finite outputs/) });
  });
});
