import {
  chmodSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  hasRealFile,
  manyRows,
  readRows,
  REAL_FILE,
  temporaryFolder,
  writeLines,
} from "../support/rollouts.ts";
import { run } from "./in-process.ts";
import { minform } from "./process.ts";

const folder = temporaryFolder();
const output = join(folder, "out.jsonl");
// Start-up, and 45 MB of rows, on a machine that is busy.
const PATIENCE = 240_000;

afterEach(() => vi.restoreAllMocks());

describe("minform advantages", () => {
  it.skipIf(!hasRealFile())(
    "runs on real solutions: rows, report and tables",
    async () => {
      const report = join(folder, "report.html");
      const args = ["advantages", "--in", REAL_FILE, "--out", output, "--report", report];
      const { code, stdout, stderr } = await minform(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(readRows(output)).toHaveLength(851);
      expect(readFileSync(report, "utf8")).toContain("<svg ");
      expect(stdout).toMatch(/^Qwen2\.5-72B-Instruct +75 +52 % +10\.5 /m);
      expect(stdout).toMatch(/AUC: outcome against right answers +0\.850 +0\.810/);
      expect(stdout).toContain(`report  ${report}`);
      // Fits a terminal of 100 columns.
      expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
    },
    PATIENCE,
  );

  it(
    "reads standard input and writes standard output, tables apart",
    async () => {
      const rows = manyRows(3);
      const input = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
      const { code, stdout, stderr } = await minform(["advantages", "--in", "-", "--out", "-"], { input });
      expect(code).toBe(0);
      const got = stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(got.map((row) => row.id)).toEqual(rows.map((row) => (row as { id: string }).id));
      expect(stderr).toMatch(/^model/m);
    },
    PATIENCE,
  );

  it("says nothing under --quiet", async () => {
    const input = writeLines(folder, manyRows(3));
    const finished = await run("advantages", "--in", input, "--out", output, "--quiet");
    expect(finished).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("fails at a bad line, naming it, or skips it on request, visibly", async () => {
    const input = writeLines(folder, [...manyRows(2), "oops", ...manyRows(1, 1, () => ({ id: "x" }))]);
    rmSync(output, { force: true });
    const failed = await run("advantages", "--in", input, "--out", output);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/^minform: .*in\.jsonl:5: not JSON/);
    expect(existsSync(output)).toBe(false);
    const skipped = await run("advantages", "--in", input, "--out", output, "--on-error", "skip");
    expect(skipped.code).toBe(0);
    expect(skipped.stderr).toMatch(/in\.jsonl:5: not JSON.*\n1 bad line skipped/);
    expect(skipped.stdout).toMatch(/bad lines skipped +1$/m);
    expect(readRows(output)).toHaveLength(5);
  });

  it("does not let text of the file steer the terminal", async () => {
    const control = /[^\n\P{Cc}]/u;
    const evil = "\u001b[2J\u0007evil\n";
    const input = writeLines(folder, [...manyRows(2, 2, () => ({ generator: evil })), evil.trim()]);
    const skipping = await run("advantages", "--in", input, "--out", output, "--on-error", "skip");
    expect(skipping.stdout).toContain("?[2J?evil?");
    expect(skipping.stdout + skipping.stderr).not.toMatch(control);
    const failing = await run("advantages", "--in", input, "--out", output);
    expect(failing.stderr).not.toMatch(control);
  });

  const paths = ["advantages", "--in", "x", "--out", "y"];
  it.each([
    [["advantages", "--in", "x"], 2, /required option '--out <file>' not specified/],
    [[...paths, "--temperature", "0.1x"], 2, /'--temperature <T>' argument '0\.1x' is invalid/],
    [[...paths, "--baseline", "none"], 2, /Allowed choices are outcome, return, step, token/],
    [[...paths, "--on-error", "stop"], 2, /Allowed choices are fail, skip/],
    [[...paths, "--temperature", "0"], 1, /temperature: expected a number in \(0, Infinity\), got 0/],
    [["advantages", "--in", "missing", "--out", "y"], 1, /missing: cannot be read: ENOENT/],
    [["nonsense"], 2, /unknown command 'nonsense'/],
  ])("%j ends with %d", async (args, expected, message) => {
    const { code, stderr } = await run(...args);
    expect(stderr).toMatch(message);
    expect(code).toBe(expected);
  });

  it.each([[["--help"]], [["advantages", "--help"]], [["--version"]]])("%j ends with 0", async (args) => {
    const { code, stdout } = await run(...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/minform|\d+\.\d+\.\d+/);
  });

  it.skipIf(process.getuid?.() === 0)("says which folder cannot be written", async () => {
    const closed = join(folder, "closed");
    mkdirSync(closed, { mode: 0o500 });
    const input = writeLines(folder, manyRows(2));
    const { code, stderr } = await run("advantages", "--in", input, "--out", join(closed, "out.jsonl"));
    chmodSync(closed, 0o700);
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot be written: EACCES/);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "%s ends it with %d and leaves nothing behind",
    async (signal, expected) => {
      const here = join(folder, signal);
      mkdirSync(here);
      const [out, report] = [join(here, "out.jsonl"), join(here, "r.html")];
      const args = ["advantages", "--in", await bigFile(45), "--out", out, "--report", report];
      const { code, stderr } = await minform(args, {
        meanwhile: (child) => {
          const timer = setInterval(() => {
            if (readdirSync(here).length === 0) return;
            // Its temporary files are there: it is in the middle of its work. Once: a second signal ends it at once.
            clearInterval(timer);
            child.kill(signal);
          }, 5);
          child.on("close", () => clearInterval(timer));
        },
      });
      expect(stderr).toContain(`cancelled by ${signal}; nothing was written`);
      expect(code).toBe(expected);
      expect(readdirSync(here)).toEqual([]);
    },
    PATIENCE,
  );

  it(
    "needs memory for the largest group, not for the text of the file",
    async () => {
      const args = ["advantages", "--in", await bigFile(45), "--out", output, "--quiet"];
      const finished = await minform(args, { node: ["--max-old-space-size=32"] });
      expect(finished).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(readFileSync(output).length).toBeGreaterThan(45e6);
    },
    PATIENCE,
  );
});

// A file of so many megabytes, mostly text.
async function bigFile(megabytes: number): Promise<string> {
  const path = join(folder, `big-${megabytes}.jsonl`);
  if (existsSync(path)) return path;
  const stream = createWriteStream(path);
  const text = "Therefore x = 1. ".repeat(1200);
  for (let i = 0; i < megabytes * 50; i++) {
    const row = { ...manyRows(1, 1)[0], id: `r${i}`, group: `g${i >> 1}`, question: text };
    if (!stream.write(`${JSON.stringify(row)}\n`))
      await new Promise<void>((drained) => stream.once("drain", drained));
  }
  await new Promise<void>((closed) => stream.end(() => closed()));
  return path;
}
