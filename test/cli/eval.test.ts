import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { runCommand } from "../../lib/cli/command.ts";
import { sharedPath } from "../support/checkpoints.ts";
import { temporaryFolder, writeLines } from "../support/rollouts.ts";
import { minform } from "./process.ts";

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);

async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const streams = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, "write").mockReturnValue(true),
  );
  try {
    const code = await runCommand(["eval", ...args]);
    const [stdout, stderr] = streams.map(({ mock }) => mock.calls.map(([text]) => text).join(""));
    return { code, stdout: stdout!, stderr: stderr! };
  } finally {
    for (const stream of streams) stream.mockRestore();
  }
}
const json = (name: string) => JSON.parse(readFileSync(at(name), "utf8"));

const aime = writeLines(
  folder,
  [
    { id: "I-1", problem: "What is 5^2?", answer: "025" },
    { id: "I-2", problem: "What is 10^2 + 4?", answer: "104" },
  ],
  "aime24.jsonl",
);
const amc = writeLines(
  folder,
  ['{"id": 0, "problem": "What is 3^3?", "answer": 27.0, "subject": "<b>"}'],
  "amc23.jsonl",
);
const generations = writeLines(
  folder,
  [
    { dataset: "aime24", id: "I-1", response: "It is \\boxed{25}.", finish_reason: "stop" },
    { dataset: "aime24", id: "I-2", response: "It is \\boxed{105}." },
    { dataset: "amc23", id: 0, response: "<script>alert(1)</script> $\\boxed{27}$" },
    { dataset: "amc23", id: 9, response: "\\boxed{27}" },
  ],
  "generations.jsonl",
);

describe("minform eval", () => {
  it("prints the table, and writes results and report", async () => {
    const { code, stdout, stderr } = await run(
      ...[
        "--in",
        generations,
        "--dataset",
        aime,
        amc,
        "--out",
        at("results.json"),
        "--report",
        at("report.html"),
      ],
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/SCORES IN %\s+problems\s+samples each\s+pass@1\s+95 %/);
    expect(stdout).toMatch(/AIME24\s+2\s+1\s+50\.0\s+9\.5 to 90\.5/);
    expect(stdout).toMatch(/AMC23\s+1\s+1\s+100\.0\s+20\.7 to 100\.0/);
    expect(stdout).toMatch(/average\s+75\.0/);
    expect(stderr).toMatch(/AIME24: 2 problems, the published set has 30/);
    expect(stderr).toMatch(/1 rows are not usable \(.*generations\.jsonl:4: no problem has "id 9"\)/);
    const { datasets, average, bad } = json("results.json");
    expect(average.pass[0].value).toBe(0.75);
    expect(bad).toHaveLength(1);
    expect(datasets[0].problems[0].samples).toEqual([
      expect.objectContaining({ sample: 0, status: "equal", answer: "25" }),
    ]);
    expect(readFileSync(at("results.json"), "utf8")).not.toContain("It is");
    const page = readFileSync(at("report.html"), "utf8");
    expect(page).toContain("It is \\boxed{105}.");
    expect(page).toContain("&lt;script&gt;alert(1)");
    expect(page).not.toContain("<script");
    expect(page).not.toMatch(/(?:src|href)=/);
  });

  it("a benchmark's name alone: the generations hold the references", async () => {
    const path = writeLines(
      folder,
      [{ id: 1, reference: "4.5e33", response: "\\boxed{4.5\\times10^{33}}" }],
      "m.jsonl",
    );
    const { code, stdout, stderr } = await run("--in", path, "--dataset", "minerva_math");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/Minerva Math\s+1\s+1\s+100\.0/);
    const both = await run("--in", path, "--dataset", "minerva_math", aime);
    expect(both).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/expected one name alone, or a source/),
    });
  });

  it("Qwen's rules: the first of several answers, and units kept for Minerva", async () => {
    const olympiad = writeLines(
      folder,
      [{ id: 1606, question: "Solve $x^2=4$.", final_answer: ["$2$", "$-2$"] }],
      "olympiadbench.jsonl",
    );
    const path = writeLines(folder, [{ id: 1606, response: "\\boxed{2}" }], "first.jsonl");
    const score = async (...args: string[]) => {
      const { code } = await run(...args, "--quiet", "--out", at("score.json"));
      expect(code).toBe(0);
      return json("score.json").datasets[0].pass[0].value;
    };
    const both = ["--in", path, "--dataset", olympiad];
    expect(await score(...both)).toBe(0);
    expect(await score(...both, "--grader", "qwen")).toBe(1);
    const gram = writeLines(folder, [{ id: 1, reference: "12 m", response: "\\boxed{12}" }], "units.jsonl");
    expect(await score("--in", gram, "--dataset", "math500", "--grader", "qwen")).toBe(1);
    expect(await score("--in", gram, "--dataset", "minerva_math", "--grader", "qwen")).toBe(0);
  });

  it("decimals and fallback, as the library's own rules have them", async () => {
    const rows = [{ id: 1, reference: "2.45", response: "\\boxed{2.449}" }];
    const path = writeLines(folder, rows, "decimals.jsonl");
    const plain = writeLines(
      folder,
      [{ id: 1, reference: "7", response: "The answer is 7." }],
      "plain.jsonl",
    );
    const score = async (...args: string[]) => {
      expect(await run("--in", ...args, "--quiet", "--out", at("rules.json"))).toMatchObject({ code: 0 });
      return json("rules.json").datasets[0].pass[0].value;
    };
    expect(await score(path, "--dataset", "math500")).toBe(0);
    expect(await score(path, "--dataset", "math500", "--decimals", "significant")).toBe(1);
    expect(await score(path, "--dataset", "minerva_math")).toBe(1);
    expect(await score(path, "--dataset", "minerva_math", "--decimals", "exact")).toBe(0);
    expect(await score(plain, "--dataset", "math500")).toBe(0);
    expect(await score(plain, "--dataset", "math500", "--fallback", "phrases")).toBe(1);
    const refused = await run("--in", path, "--grader", "prime", "--fallback", "phrases");
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/fallback: expected grader default/),
    });
  });

  it("names for files and datasets, k, samples, missing", async () => {
    const row = (response: string) => ({
      idx: 0,
      responses: [response, "none", "\\boxed{25}", "\\boxed{25}"],
    });
    const path = writeLines(folder, [row("\\boxed{1}")], "x.jsonl");
    const args = ["--in", `mine=${path}`, "--dataset", `mine=${aime}`, "--quiet"];
    const { code, stdout, stderr } = await run(
      ...args,
      "--k",
      "4,1",
      "--missing",
      "skip",
      "--out",
      at("x.json"),
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(/mine: 4 samples are missing and are left out \(I-2\)/);
    expect(json("x.json").datasets[0]).toMatchObject({
      name: "mine",
      pass: [
        { k: 1, value: 0.5 },
        { k: 4, value: 1 },
      ],
      majority: [{ k: 4, value: 1 }],
    });
  });

  it("reads standard input", async () => {
    const input = readFileSync(generations, "utf8");
    const { code, stdout } = await minform(["eval", "--in", "-", "--dataset", aime, amc], { input });
    expect(code).toBe(0);
    expect(stdout).toMatch(/average\s+75\.0/);
  });

  it.each([
    [["--in", "none.jsonl"], 1, /none\.jsonl: cannot be read/],
    [["--in", generations], 1, /no sample belongs to a problem: .*generations\.jsonl:1: reference: expected/],
    [["--in", generations, "--dataset", "none.parquet"], 1, /none\.parquet: no such file/],
    [["--in", generations, "--dataset", aime, "--k", "1,1"], 2, /expected each number once/],
    [["--in", generations, "--dataset", aime, "--k", "0"], 2, /expected an integer > 0/],
    [
      ["--in", generations, "--dataset", aime, "--k", "3"],
      1,
      /k: expected at most the 1 samples per problem/,
    ],
    [["--dataset", aime], 2, /--in/],
  ])("refuses %j", async (args, expected, message) => {
    const { code, stdout, stderr } = await run(...args, "--out", at("never.json"));
    expect({ code, stdout }).toEqual({ code: expected, stdout: "" });
    expect(stderr).toMatch(message);
    expect(existsSync(at("never.json"))).toBe(false);
  });
});

const real = sharedPath("data", "qwen25math", "math_cot_100.jsonl");
if (real === undefined) console.warn("skipped: ../shared/data/qwen25math is not there");

describe.skipIf(real === undefined)("real generations", () => {
  const evaluated = async (...args: string[]) => {
    const { code, stderr } = await run("--in", real!, "--out", at("real.json"), ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return json("real.json").datasets[0];
  };

  it("100 problems with 8 samples each, in a report", async () => {
    const set = await evaluated("--report", at("real.html"));
    expect(set).toMatchObject({ samples: 8, counts: { graded: 800, missing: 0 } });
    expect(set.pass.map(({ k }: { k: number }) => k)).toEqual([1, 2, 4, 8]);
    expect(readFileSync(at("real.html"), "utf8").match(/<details>/g)!.length).toBe(900);
  });

  it("Qwen's rules give the verdicts that Qwen's evaluation recorded", async () => {
    const set = await evaluated("--grader", "qwen");
    const recorded = readFileSync(real!, "utf8").trimEnd().split("\n");
    const verdicts = set.problems.map(({ samples }: { samples: { status: string }[] }) =>
      samples.map(({ status }) => status === "equal"),
    );
    expect(verdicts).toEqual(recorded.map((line) => JSON.parse(line).score));
  });
});
