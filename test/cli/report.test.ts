import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { writeRecord } from "../../lib/train/experiment/record.ts";
import { temporaryFolder } from "../support/rollouts.ts";
import { writeRun } from "../support/run-folder.ts";
import { run } from "./in-process.ts";

const root = temporaryFolder();
const one = writeRun(join(root, "x", "one"), { steps: 10 });
const two = writeRun(join(root, "x", "two"), { steps: 10, hacking: 0.9 });

afterEach(() => vi.restoreAllMocks());

describe("minform report", () => {
  it("writes the page of a run into its folder", async () => {
    const { code, stdout, stderr } = await run("report", one);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^report {2}.*one\/report\.html\n$/);
    expect(readFileSync(join(one, "report.html"), "utf8")).toContain("<h1>made-up</h1>");
  });

  it("writes the page and the table of several, named by the end of their paths", async () => {
    const out = join(root, "compare.html");
    const other = join(root, "y", "one");
    cpSync(one, other, { recursive: true });
    const { code, stdout } = await run("report", one, two, other, "--out", out);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^LAST NUMBERS +runs +pass@1 greedy /);
    expect(stdout).toMatch(/^x\/one +1 +0\.9\d\d/m);
    expect(stdout).toMatch(/^x\/two +1 +0\.\d{3}/m);
    expect(stdout).toMatch(/^y\/one +1 +0\.9\d\d/m);
    expect(readFileSync(out, "utf8")).toContain("3 settings, 3 runs");
  });

  it("takes the folder of an experiment, with the runs that have begun", async () => {
    const folder = join(root, "experiment");
    mkdirSync(folder);
    const runs = [1, 2, 3].map((seed) => ({ label: "min", seed, folder: `seed-${seed}` }));
    const setup = [{ label: "prm", seed: 1, folder: "setup" }];
    writeRecord(folder, { name: "a comparison", setup, runs });
    mkdirSync(join(folder, "setup"));
    writeFileSync(join(folder, "setup", "config.json"), '{ "seed": 1 }');
    const quality = { step: 5, phase: "prm", seconds: 1, metrics: { "prm/loss": 0.5, "eval/f1": 0.8125 } };
    writeFileSync(join(folder, "setup", "metrics.jsonl"), `${JSON.stringify(quality)}\n`);
    for (const { seed, folder: path } of runs.slice(0, 2)) writeRun(join(folder, path), { seed, steps: 10 });
    const { code, stdout } = await run("report", folder);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^min +2 +0\.\d{3} ± 0\.\d{3}/m);
    const page = readFileSync(join(folder, "report.html"), "utf8");
    expect(page).toContain("<h1>a comparison</h1>");
    expect(page).toMatch(
      /<h3>Set-up<\/h3>.*<th>f1<\/th>.*<td>prm<\/td><td>1<\/td><td>5<\/td><td>0\.8125<\/td>/s,
    );
  });

  it("says what is not there, and leaves an older page alone", async () => {
    const empty = join(root, "empty");
    mkdirSync(empty);
    const { code, stderr } = await run("report", empty);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^minform: .*empty: no run here: there is no metrics\.jsonl\n$/);
    const page = join(one, "report.html");
    const before = readFileSync(page, "utf8");
    rmSync(join(one, "metrics.jsonl"));
    expect((await run("report", one)).code).toBe(1);
    expect(readFileSync(page, "utf8")).toBe(before);
  });
});
