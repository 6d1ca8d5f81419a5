import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { runCommand } from "../../lib/cli/command.ts";
import { readRows, temporaryFolder } from "../support/rollouts.ts";
import { minform } from "./process.ts";

const folder = temporaryFolder();
const FILES = ["rollouts.jsonl", "advantages.jsonl", "report.html"];

describe("minform pure", () => {
  it("needs no arguments, and shows that padding pays under sum-form only", async () => {
    const { code, stdout, stderr } = await minform(["pure"], { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const file of FILES) {
      expect(existsSync(join(folder, "out", "pure", file))).toBe(true);
      expect(stdout).toContain(join("out", "pure", file));
    }
    const rows = readRows(join(folder, "out", "pure", "advantages.jsonl"));
    const mean = (generator: string, form: string) => {
      const advantages = rows
        .filter((row) => row.generator.startsWith(generator))
        .flatMap((row) => row[form].advantages as number[]);
      return advantages.reduce((a, b) => a + b, 0) / advantages.length;
    };
    expect(mean("padding", "sum_form")).toBeGreaterThan(mean("plain", "sum_form"));
    expect(mean("padding", "min_form")).toBeLessThan(mean("plain", "min_form"));
    expect(stdout).toMatch(/loss, token mean +-?0\.\d+ +-?0\.\d+/);
  }, 240_000);

  it("gives the same bytes in every run, and others for another seed", async () => {
    const run = async (name: string, seed: string) => {
      const out = join(folder, name);
      expect(await runCommand(["pure", "--out-dir", out, "--prompts", "8", "--seed", seed, "--quiet"])).toBe(
        0,
      );
      return FILES.map((file) => readFileSync(join(out, file), "utf8"));
    };
    const first = await run("one", "5");
    expect(await run("two", "5")).toEqual(first);
    expect(await run("three", "6")).not.toEqual(first);
  });

  it.each([
    ["--prompts", "0"],
    ["--prompts", "1.5"],
    ["--seed", "x"],
  ])("rejects %s %s", async (...args) => {
    const complaint = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    expect(await runCommand(["pure", "--out-dir", join(folder, "none"), ...args])).toBe(2);
    expect(complaint.mock.calls.join()).toMatch(/expected an integer of at least 1|expected a number/);
    complaint.mockRestore();
    expect(existsSync(join(folder, "none"))).toBe(false);
  });
});
