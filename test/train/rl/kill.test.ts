import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { minform } from "../../cli/process.ts";
import { modelOf, runPhase } from "../support.ts";
import { freshPolicy, numbersOf, tiny } from "./support.ts";

const root = await temporaryFolder();
const base = await freshPolicy(root);
const reward = join(root, "digits.mjs");
writeFileSync(
  reward,
  `export default ({ tokens: { data, offsets }, texts }) => ({
    rewards: texts.map((_, row) => Array.from(data.subarray(offsets[row], offsets[row + 1]), (id) => id >= 9 ? 0.1 : 0)),
  });`,
);
const config = tiny(base, {
  steps: 6,
  reward: { function: reward },
  checkpoint: { every: 2 },
  eval: { prompts: 8, every: 3 },
});

describe("minform train", () => {
  it("killed at any point goes on to the same bits", async () => {
    const unbroken = join(root, "unbroken");
    expect(await runPhase("train", config, unbroken)).toMatchObject({ code: 0, stdout: "" });
    const wanted = [
      numbersOf(unbroken),
      modelOf(unbroken),
      readFileSync(join(unbroken, "rollouts.jsonl"), "utf8"),
    ];
    for (const killAfter of [1, 4]) {
      const folder = join(root, `killed-${killAfter}`);
      expect(await runPhase("train", config, folder, { killAfter })).toMatchObject({ code: null });
      expect(await runPhase("train", config, folder, { resume: true })).toMatchObject({
        code: 0,
        stderr: "",
      });
      const got = [numbersOf(folder), modelOf(folder), readFileSync(join(folder, "rollouts.jsonl"), "utf8")];
      expect(got).toEqual(wanted);
    }
  }, 240_000);

  it("says what it did, and where the report is", async () => {
    const folder = join(root, "shown");
    const { code, stdout } = await minform([
      "train",
      join(root, "unbroken.yaml"),
      "--out-dir",
      folder,
      "--set",
      "steps=1",
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/reward, sampled/);
    expect(stdout).toMatch(/1 steps\nreport .*report\.html\npolicy .*model\n$/);
    expect(readFileSync(join(folder, "report.html"), "utf8")).toMatch(/^<!doctype html>/i);
  });

  it("finishes the step and saves when it is interrupted", async () => {
    const folder = join(root, "interrupted");
    writeFileSync(`${folder}.yaml`, readFileSync(join(root, "unbroken.yaml")));
    const args = [
      "train",
      `${folder}.yaml`,
      "--out-dir",
      folder,
      "--quiet",
      "--set",
      "steps=5000",
      "checkpoint.every=0",
    ];
    const { code, stderr } = await minform(args, {
      meanwhile: (child) => {
        const timer = setInterval(() => {
          try {
            if (numbersOf(folder).length < 3) return;
          } catch {
            return;
          }
          clearInterval(timer);
          child.kill("SIGINT");
        }, 5);
      },
    });
    expect(code).toBe(130);
    expect(stderr).toMatch(/cancelled by SIGINT; rerun with --resume to go on/);
    const { step } = JSON.parse(readFileSync(join(folder, "latest.json"), "utf8")) as { step: number };
    expect(numbersOf(folder).at(-1)!.step).toBe(step);
  });

  it("names the key that is wrong", async () => {
    const file = join(root, "wrong.yaml");
    writeFileSync(file, "model: { path: a }\ndata: { train: b }\nrollout: { temprature: 1 }\n");
    const { code, stderr } = await minform(["train", file]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${file}: rollout.temprature: no such key; did you mean rollout.temperature?`);
    rmSync(file);
  });
});
