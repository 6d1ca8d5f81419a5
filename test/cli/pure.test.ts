import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { runCommand } from "../../lib/cli/command.ts";
import { changeTable, prmTable } from "../../lib/cli/pure-tables.ts";
import { temporaryFolder } from "../support/rollouts.ts";

const folder = temporaryFolder();

describe("minform pure", () => {
  it.each([
    ["--steps", "0"],
    ["--seed", "1.5"],
    ["--seed", "x"],
  ])("rejects %s %s", async (...args) => {
    const complaint = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    expect(await runCommand(["pure", "--out-dir", join(folder, "none"), ...args])).toBe(2);
    expect(complaint.mock.calls.join()).toMatch(/expected an integer of at least 1|expected a number/);
    complaint.mockRestore();
    expect(existsSync(join(folder, "none"))).toBe(false);
  });

  it("shows the PRM after each stage, and the policy before and after", () => {
    const quality = { accuracy: 0.5, f1: 0.25, errors: null, correct: 1, afterError: -0.125 };
    const prm = prmTable([{ name: "head", quality }, { name: "all" }]);
    expect(prm.split("\n").map((line) => line.split(/ {2,}/).map((cell) => cell.trim()))).toEqual([
      ["PRM, HELD-OUT SOLUTIONS", "after the head", "after all weights"],
      ["steps judged rightly", "50.0 %", "-"],
      ["first errors found", "-", "-"],
      ["right solutions kept", "100.0 %", "-"],
      ["F1", "0.250", "-"],
      ["mean reward after an error", "-0.13", "-"],
    ]);
    const change = changeTable(
      { "eval/pass@1/greedy": 0.41, "eval/steps": 4.25 },
      { "eval/pass@1/greedy": 0.985 },
    );
    expect(change).toMatch(/pass@1, greedy +41\.0 % +98\.5 %/);
    expect(change).toMatch(/^steps +4\.25 +-$/m);
  });
});
