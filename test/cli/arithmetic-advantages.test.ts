import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../lib/cli/command.ts";
import { arithmeticRollouts } from "../../lib/train/index.ts";
import { readRows, temporaryFolder } from "../support/rollouts.ts";

const folder = temporaryFolder();

/** Runs `minform advantages` on rollouts of the embedded task's hand-made policies; what it writes. */
async function advantages(
  name: string,
  prompts: number,
  seed: number,
): Promise<{ output: string; report: string }> {
  const [input, output, report] = ["in.jsonl", "out.jsonl", "html"].map((end) =>
    join(folder, `${name}.${end}`),
  ) as [string, string, string];
  const lines = Array.from(arithmeticRollouts({ prompts, seed }), (row) => `${JSON.stringify(row)}\n`);
  writeFileSync(input, lines.join(""));
  const args = ["advantages", "--in", input, "--out", output, "--report", report, "--quiet"];
  expect(await runCommand(args)).toBe(0);
  return { output, report };
}

describe("minform advantages on hand-made policies", () => {
  it("shows that padding pays under sum-form only", async () => {
    const { output, report } = await advantages("all", 64, 1);
    expect(existsSync(report)).toBe(true);
    const rows = readRows(output);
    const mean = (generator: string, form: string) => {
      const all = rows
        .filter((row) => row.generator.startsWith(generator))
        .flatMap((row) => row[form].advantages as number[]);
      return all.reduce((a, b) => a + b, 0) / all.length;
    };
    expect(mean("padding", "sum_form")).toBeGreaterThan(mean("plain", "sum_form"));
    expect(mean("padding", "min_form")).toBeLessThan(mean("plain", "min_form"));
  });

  it("gives the same bytes in every run, and others for another seed", async () => {
    const run = async (name: string, seed: number) => {
      const { output } = await advantages(name, 8, seed);
      return readFileSync(output, "utf8");
    };
    const first = await run("one", 5);
    expect(await run("two", 5)).toBe(first);
    expect(await run("three", 6)).not.toBe(first);
  });
});
