import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../support/rollouts.ts";
import { run } from "./in-process.ts";

const root = temporaryFolder();
afterEach(() => vi.restoreAllMocks());

const FILE = join(root, "tiny.yaml");
writeFileSync(
  FILE,
  `
name: tiny
seeds: [1, 2]
setup:
  - sft: { model: arithmetic, data: arithmetic, rows: 64, steps: 2, batch: 16, learningRate: 4.0e-3 }
  - trainPrm:
      { model: setup:sft, data: arithmetic, separator: "\\n\\n", samples: 24, heldOutSamples: 8, all: { epochs: 0 } }
base:
  steps: 2
  model: { path: setup:sft }
  data: { train: "arithmetic:train", eval: "arithmetic:held-out" }
  rollout: { prompts: 2, n: 2, maxTokens: 12 }
  reward: { mode: prm, prm: setup:prm }
  eval: { every: 2, prompts: 4 }
runs:
  min:
  sum: { reward: { credit: sum } }
`,
);

describe("minform experiment", () => {
  it("trains, compares, and does not do again what is done", async () => {
    const folder = join(root, "out");
    const first = await run("experiment", FILE, "--out-dir", folder);
    expect(first.stderr).toMatch(/^8\/8 sum \(rl\), seed 2 {2}step 2 of 2/m);
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/^min +2 +\d\.\d{3} ± \d\.\d{3} /m);
    expect(first.stdout).toMatch(/^report {2}.*report\.html$/m);
    const page = readFileSync(join(folder, "report.html"), "utf8");
    for (const text of ["<h1>tiny</h1>", "2 settings, 4 runs", "<h3>Set-up</h3>"])
      expect(page).toContain(text);
    const models = [1, 2].map((seed) =>
      join(folder, `seed-${seed}`, "runs", "sum", "model", "model.safetensors"),
    );
    const times = models.map((path) => statSync(path).mtimeMs);
    const second = await run("experiment", FILE, "--out-dir", folder);
    expect(second.stderr).toBe("");
    expect(second.stdout).toBe(first.stdout);
    expect(models.map((path) => statSync(path).mtimeMs)).toEqual(times);
    expect(readFileSync(join(folder, "report.html"), "utf8")).toBe(page);
  });

  it("names several faults on a line each, and control characters cannot steer the terminal", async () => {
    const file = join(root, "faults.yaml");
    writeFileSync(file, 'run: 1\n"runz\\e[31m": 2\n');
    const { code, stderr } = await run("experiment", file, "--out-dir", join(root, "nothing"));
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").length).toBeGreaterThan(2);
    expect(stderr).toMatch(/^ +run: no such key; did you mean runs\?$/m);
    expect(stderr).toContain("runz?[31m");
  });

  it("checks all configs before it begins", async () => {
    const file = join(root, "wrong.yaml");
    writeFileSync(file, readFileSync(FILE, "utf8").replace("credit: sum", "credit: summ"));
    const folder = join(root, "nothing");
    const { code, stderr } = await run("experiment", file, "--out-dir", folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(/wrong\.yaml: runs\.sum: reward\.credit: /);
    expect(existsSync(folder)).toBe(false);
  });
});
