import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { minform } from "./process.ts";

const folder = mkdtempSync(join(tmpdir(), "minform-grade-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rows = [
  { id: 1, prediction: "0.5", reference: "\\frac12" },
  { id: 2, response: "so $\\boxed{\\sqrt{8}}$", reference: "2\\sqrt2" },
  { id: 3, response: "it is 4", reference: "4" },
];
const text = `${rows.map((row) => JSON.stringify(row)).join("\n")}\nnope\n{"prediction":"1"}\n`;

describe("minform grade", () => {
  it("writes the rows with their verdicts, and reports bad rows by line", async () => {
    const [input, output] = [join(folder, "in.jsonl"), join(folder, "out.jsonl")];
    writeFileSync(input, text);
    const { code, stderr } = await minform(["grade", "--in", input, "--out", output]);
    expect(code).toBe(0);
    expect(stderr).toContain(`${input}:4: no JSON`);
    expect(stderr).toContain(`${input}:5: expected text in reference`);
    expect(stderr).toContain("3 rows graded: 2 equal, 1 noAnswer; 2 bad");
    const graded = readFileSync(output, "utf8").trim().split("\n");
    expect(graded.map((line) => JSON.parse(line))).toEqual([
      { ...rows[0], status: "equal", equal: true },
      { ...rows[1], answer: "\\sqrt{8}", status: "equal", equal: true },
      { ...rows[2], answer: null, status: "noAnswer", equal: false },
    ]);
  });

  it("goes from standard input to standard output, with a named grader and a fallback", async () => {
    const { code, stdout, stderr } = await minform(
      ["grade", "--in", "-", "--out", "-", "--fallback", "lastNumber", "--strict"],
      {
        input: text,
      },
    );
    expect(code).toBe(1);
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).equal),
    ).toEqual([true, true, true]);
    expect(stderr).toContain("2 rows could not be graded (--strict)");
    const peer = await minform(["grade", "--in", "-", "--out", "-", "--grader", "hendrycks"], {
      input: text,
    });
    expect(
      peer.stdout
        .split("\n")
        .slice(0, 2)
        .map((line) => JSON.parse(line).equal),
    ).toEqual([true, false]);
  });

  it("takes decimals as measured where one asks for it, under its own rules only", async () => {
    const input = '{"prediction":"2.449","reference":"2.45"}\n';
    const equal = async (...flags: string[]) => {
      const { stdout } = await minform(["grade", "--in", "-", "--out", "-", ...flags], { input });
      return JSON.parse(stdout).equal;
    };
    expect(await equal()).toBe(false);
    expect(await equal("--decimals", "exact")).toBe(false);
    expect(await equal("--decimals", "significant")).toBe(true);
    const both = ["grade", "--in", "-", "--out", "-", "--grader", "qwen"];
    for (const [name, value] of [
      ["decimals", "significant"],
      ["fallback", "phrases"],
    ] as const) {
      const { code, stderr } = await minform([...both, `--${name}`, value], { input });
      expect(code).toBe(1);
      expect(stderr).toContain(`${name}: expected grader default, got qwen`);
    }
    const { code, stderr } = await minform([...both.slice(0, 5), "--decimals", "some"], { input });
    expect(code).toBe(2);
    expect(stderr).toContain("--decimals");
  });

  it("does not write over its input", async () => {
    const path = join(folder, "same.jsonl");
    writeFileSync(path, text);
    const { code, stderr } = await minform(["grade", "--in", path, "--out", path]);
    expect(code).toBe(1);
    expect(stderr).toContain("input and output");
    expect(readFileSync(path, "utf8")).toBe(text);
  });
});
