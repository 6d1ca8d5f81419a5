import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RunFolder, type RunOptions } from "../../../lib/train/run/index.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { rejection } from "../../support/errors.ts";

const root = await temporaryFolder();
let runs = 0;
const fresh = () => join(root, `run-${runs++}`);
const options = (more: Partial<RunOptions> = {}): RunOptions => ({
  phase: "test",
  config: { seed: 1, model: { path: "a" } },
  ...more,
});
const rowsOf = (path: string, name: string) =>
  readFileSync(join(path, name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { step: number });
const saveStep = (step: number) => async (folder: string) =>
  writeFileSync(join(folder, "weights"), `step ${step}`);

/** A run of some steps with a checkpoint after each of `at`. */
async function runOf(path: string, steps: number, at: readonly number[], more: Partial<RunOptions> = {}) {
  using run = await RunFolder.open(path, options(more));
  for (let step = (run.latest()?.step ?? 0) + 1; step <= steps; step++) {
    run.log(step, { loss: 1 / step });
    run.rollouts(step, [{ id: "a" }, { id: "b" }]);
    if (at.includes(step)) await run.checkpoint(step, saveStep(step), { seen: step });
  }
}

describe("a run's folder", () => {
  it("holds config, environment, metrics and rollouts", async () => {
    const path = fresh();
    await runOf(path, 2, []);
    expect(JSON.parse(readFileSync(join(path, "config.json"), "utf8"))).toEqual(options().config);
    const environment = JSON.parse(readFileSync(join(path, "environment.json"), "utf8"));
    expect(environment).toMatchObject({ node: process.version, threads: expect.any(Number) });
    expect(rowsOf(path, "metrics.jsonl")).toEqual([
      { step: 1, phase: "test", seconds: expect.any(Number), metrics: { loss: 1 } },
      { step: 2, phase: "test", seconds: expect.any(Number), metrics: { loss: 0.5 } },
    ]);
    expect(rowsOf(path, "rollouts.jsonl")).toHaveLength(4);
  });

  it("goes on from its last checkpoint with the lines after it cut off, half lines too", async () => {
    const path = fresh();
    await runOf(path, 7, [3, 5]);
    appendFileSync(join(path, "metrics.jsonl"), '{"step":8,"pha');
    await runOf(path, 8, [8], { resume: true });
    expect(rowsOf(path, "metrics.jsonl").map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(rowsOf(path, "rollouts.jsonl")).toHaveLength(16);
  });

  it("starts over where there was no checkpoint", async () => {
    const path = fresh();
    await runOf(path, 3, []);
    await runOf(path, 2, [], { resume: true });
    expect(rowsOf(path, "metrics.jsonl").map(({ step }) => step)).toEqual([1, 2]);
  });

  it("keeps the newest checkpoints, and gives the state back", async () => {
    const path = fresh();
    await runOf(path, 6, [1, 2, 3, 4, 5], { keep: 2 });
    expect(readdirSync(join(path, "checkpoints"))).toEqual(["step-000004", "step-000005"]);
    using run = await RunFolder.open(path, options({ resume: true }));
    const last = run.latest<{ seen: number }>();
    expect(last).toMatchObject({ step: 5, state: { seen: 5 } });
    expect(readFileSync(join(last!.folder, "weights"), "utf8")).toBe("step 5");
  });

  it("counts seconds on over an interruption", async () => {
    const path = fresh();
    await runOf(path, 1, [1]);
    const latest = JSON.parse(readFileSync(join(path, "latest.json"), "utf8"));
    writeFileSync(join(path, "latest.json"), JSON.stringify({ ...latest, seconds: 1000 }));
    using run = await RunFolder.open(path, options({ resume: true }));
    expect(run.seconds).toBeGreaterThanOrEqual(1000);
    expect(run.seconds).toBeLessThan(1060);
  });
});

describe("two in one folder", () => {
  const opened = (path: string) => RunFolder.open(path, options({ resume: true }));

  it("is an error for the one whose lines are cut off, before it writes another", async () => {
    const path = fresh();
    await runOf(path, 2, [2]);
    using first = await opened(path);
    first.log(3, { loss: 1 });
    using second = await opened(path);
    expect(() => first.log(4, { loss: 1 })).toThrow(/metrics\.jsonl: .* another process works in the folder/);
    await expect(first.checkpoint(4, saveStep(4), {})).rejects.toThrow(/another process/);
    second.log(3, { loss: 2 });
    await second.checkpoint(3, saveStep(3), {});
    expect(rowsOf(path, "metrics.jsonl").map(({ step }) => step)).toEqual([1, 2, 3]);
  });

  it("is an error for the one that logs after the other", async () => {
    const path = fresh();
    await runOf(path, 2, [2]);
    using first = await opened(path);
    using second = await opened(path);
    second.rollouts(3, [{ id: "a" }]);
    expect(() => first.rollouts(3, [{ id: "a" }])).toThrow(/rollouts\.jsonl: .* another process/);
  });
});

describe("a checkpoint that fails", () => {
  it("leaves the last one as it was, and no trace", async () => {
    const path = fresh();
    await runOf(path, 2, [2]);
    {
      using run = await RunFolder.open(path, options({ resume: true }));
      run.log(3, { loss: 0 });
      const full = async (folder: string) => {
        writeFileSync(join(folder, "weights"), "half");
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), {
          code: "ENOSPC",
          syscall: "write",
        });
      };
      expect(await rejection(() => run.checkpoint(3, full, {}))).toMatchObject({
        code: "ERR_INPUT",
        message: expect.stringMatching(/step-000003: cannot be written: ENOSPC/),
      });
    }
    expect(readdirSync(join(path, "checkpoints"))).toEqual(["step-000002"]);
    using run = await RunFolder.open(path, options({ resume: true }));
    expect(run.latest()).toMatchObject({ step: 2, state: { seen: 2 } });
  });

  it("does not count when the process died before latest.json", async () => {
    const path = fresh();
    await runOf(path, 2, [2]);
    for (const name of ["step-000004", ".new"]) {
      mkdirSync(join(path, "checkpoints", name));
      writeFileSync(join(path, "checkpoints", name, "weights"), "torn");
    }
    await runOf(path, 4, [4], { resume: true });
    expect(readFileSync(join(path, "checkpoints", "step-000004", "weights"), "utf8")).toBe("step 4");
    expect(readdirSync(join(path, "checkpoints"))).toEqual(["step-000002", "step-000004"]);
  });
});

describe("opening", () => {
  it("refuses a folder with a run, unless it goes on", async () => {
    const path = fresh();
    await runOf(path, 1, []);
    expect(await rejection(() => RunFolder.open(path, options()))).toMatchObject({
      code: "ERR_INPUT",
      message: `${path}: holds a run already; resume it, or choose another folder`,
    });
  });

  it.each([
    [{ seed: 1, model: { path: "b" } }, 'model.path was "a", is "b"'],
    [{ seed: 2, model: { path: "a" } }, "seed was 1, is 2"],
    [{ seed: 1, model: { path: "a" }, more: 0 }, "more was undefined, is 0"],
    [{ seed: 1 }, 'model was {"path":"a"}, is undefined'],
  ])("refuses to go on under %j", async (config, message) => {
    const path = fresh();
    await runOf(path, 1, []);
    const error = await rejection(() => RunFolder.open(path, options({ config, resume: true })));
    expect(error.code).toBe("ERR_INPUT");
    expect(error.message).toContain(message);
  });

  it.each([false, true])("refuses a checkpoint whose config is gone, resume %s", async (resume) => {
    const path = fresh();
    await runOf(path, 2, [2]);
    rmSync(join(path, "config.json"));
    const error = await rejection(() => RunFolder.open(path, options({ config: { seed: 9 }, resume })));
    expect(error.message).toBe(
      `${join(path, "config.json")}: expected the config of the run in the folder, found none`,
    );
  });

  it("refuses metrics that are shorter than the checkpoint says, and a checkpoint that is gone", async () => {
    const path = fresh();
    await runOf(path, 2, [2]);
    writeFileSync(join(path, "metrics.jsonl"), "");
    expect((await rejection(() => RunFolder.open(path, options({ resume: true })))).message).toMatch(
      /metrics\.jsonl: expected the \d+ bytes that the last checkpoint speaks of, got 0/,
    );
    rmSync(join(path, "checkpoints"), { recursive: true });
    expect((await rejection(() => RunFolder.open(path, options({ resume: true })))).message).toMatch(
      /latest\.json: expected a checkpoint and its folder, got checkpoints\/step-000002/,
    );
  });

  it("refuses a place where no folder can be", async () => {
    const file = join(root, "file");
    writeFileSync(file, "");
    expect(await rejection(() => RunFolder.open(join(file, "run"), options()))).toMatchObject({
      code: "ERR_INPUT",
    });
    expect(existsSync(join(file, "run"))).toBe(false);
    expect((await rejection(() => RunFolder.open(fresh(), options({ keep: 0 })))).message).toBe(
      "keep: expected at least 1, got 0",
    );
  });
});
