import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { setNumThreads } from "../../../lib/device.ts";
import { openCheckpoint } from "../../../lib/model/index.ts";
import { loadModel } from "../../../lib/train/engine/index.ts";
import { type Guard, trainRl, type TrainHooks, type TrainPlugin } from "../../../lib/train/rl/index.ts";
import type { StepScorer } from "../../../lib/train/prm/scorer.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { readWandb } from "../sinks/wandb-log.ts";
import { modelOf } from "../support.ts";
import { digits, freshPolicy, numbersOf, parityScorer, tiny } from "./support.ts";

const root = await temporaryFolder();
const base = await freshPolicy(root);
let runs = 0;
const nextFolder = () => join(root, `run-${runs++}`);

async function runTiny(more = {}, hooks: TrainHooks = {}, folder = nextFolder()) {
  const result = await trainRl(tiny(base, more), { folder, hooks: { reward: digits, ...hooks } });
  return { ...result, folder, rows: numbersOf(folder) };
}

// Ends the run after a step, as Ctrl-C does, and goes on.
async function runInterrupted(more: object, after: number, hooks: () => TrainHooks = () => ({})) {
  const folder = nextFolder();
  const controller = new AbortController();
  const config = tiny(base, more as never);
  const first = await trainRl(config, {
    folder,
    signal: controller.signal,
    onProgress: ({ step }) => step === after && controller.abort(),
    hooks: { reward: digits, ...hooks() },
  });
  expect(first).toMatchObject({ step: after, ended: "interrupted" });
  const second = await trainRl(config, { folder, resume: true, hooks: { reward: digits, ...hooks() } });
  return { ...second, folder, rows: numbersOf(folder) };
}

describe("a run", () => {
  it("earns more than it did, and leaves a model, metrics and rollouts", async () => {
    const { folder, rows, model, before, after } = await runTiny({
      steps: 12,
      actor: { learningRate: 1e-2 },
      eval: { every: 12 },
    });
    expect(rows.map(({ step }) => step)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(after["eval/reward/sampled"]!).toBeGreaterThan(before["eval/reward/sampled"]! + 0.05);
    await loadModel(await openCheckpoint(model), { heads: { lm: true } });
    const rollouts = readFileSync(join(folder, "rollouts.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rollouts).toHaveLength(12 * 2 * 4);
    const { prompt, steps, advantages, verified, response, length } = rollouts[0];
    expect(prompt).toMatch(/^\d.*=$/);
    expect(steps).toHaveLength(advantages.length);
    expect(steps.join("")).toBe(response);
    expect([0, 1]).toContain(verified);
    expect(length).toBeLessThanOrEqual(10);
  });

  it("has ratios of exactly 1 before the first update", async () => {
    const { rows } = await runTiny({ eval: { before: false, every: 0 } });
    for (const { metrics } of rows) {
      expect(metrics).toMatchObject({ "actor/ratio/max": 1, "actor/ratio/min": 1, "actor/pg_clipfrac": 0 });
      expect(metrics["actor/ppo_kl"]).toBe(0);
    }
    const twice = await runTiny({ actor: { epochs: 2 }, eval: { before: false, every: 0 } });
    expect(twice.rows[0]!.metrics["actor/ratio/max"]).toBeGreaterThan(1);
  });

  it("is the same to the bit twice, and with any number of threads", async () => {
    setNumThreads(1);
    const one = await runTiny();
    setNumThreads(2);
    const two = await runTiny();
    expect(two.rows).toEqual(one.rows);
    expect(modelOf(two.folder).equals(modelOf(one.folder))).toBe(true);
    const other = await runTiny({ seed: 8 });
    expect(modelOf(other.folder).equals(modelOf(one.folder))).toBe(false);
  });

  it("logs to what the config names", async () => {
    const log = { tensorboard: true, wandb: "offline", wandbProject: "pure" };
    const { folder, rows } = await runTiny({ name: "a run", steps: 1, log });
    expect(readdirSync(join(folder, "tensorboard"))).toEqual([expect.stringContaining("tfevents")]);
    const [wandb] = readdirSync(join(folder, "wandb"), { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".wandb"),
    );
    const records = readWandb(readFileSync(join(folder, "wandb", wandb!)));
    expect(records[1]!.run).toMatchObject({ project: "pure", displayName: "a run", config: { steps: 1 } });
    const history = records.flatMap(({ history: row }) => (row === undefined ? [] : [row]));
    expect(history.map(({ _step }) => _step)).toEqual(rows.map(({ step }) => step));
    expect(history.at(-1)).toMatchObject(rows.at(-1)!.metrics);
  });

  it("does not depend on micro-batches but for rounding", async () => {
    const metricsWith = async (microBatchTokens: number) => {
      const { rows } = await runTiny({
        steps: 1,
        actor: { microBatchTokens, aggregation: "prompt-mean", entropyCoefficient: 0.01 },
      });
      return rows.at(-1)!.metrics;
    };
    const [whole, split] = [await metricsWith(8192), await metricsWith(30)];
    for (const name of ["actor/grad_norm", "actor/pg_loss", "actor/entropy", "actor/kl", "actor/entropy"]) {
      expect(split[name]).toBeCloseTo(whole[name]!, 5);
    }
    expect(whole["actor/grad_norm"]).toBeGreaterThan(0);
  });
});

describe("a PRM in a mode that does not train on it", () => {
  it.each(["vr", "function"])("is measured on held-out prompts, and changes nothing: %s", async (mode) => {
    const scored: number[] = [];
    const scorer: StepScorer = {
      score(rows) {
        scored.push(rows.length);
        return parityScorer.score(rows);
      },
    };
    const without = await runTiny({ reward: { mode } }, { scorer });
    expect(scored).toEqual([]);
    const { folder, rows } = await runTiny({ reward: { mode, prm: "named" } }, { scorer });
    // Sampled responses, before the first step and after two and four.
    expect(scored).toEqual([4, 4, 4]);
    const lowest = rows.map(({ metrics }) => metrics["eval/prm"]);
    expect(lowest.map((value) => value !== undefined)).toEqual([true, false, true, false, true]);
    expect(lowest[0]).toBeGreaterThanOrEqual(Math.fround(-0.4));
    expect(lowest[0]).toBeLessThanOrEqual(Math.fround(0.8));
    for (const { metrics } of rows) delete metrics["eval/prm"];
    expect(rows).toEqual(without.rows);
    expect(modelOf(folder).equals(modelOf(without.folder))).toBe(true);
  });
});

describe("a run that was interrupted goes on to the same bits", () => {
  const SETTINGS: [string, object, (() => TrainHooks)?][] = [
    [
      "mini-batches, epochs, adaptive KL",
      { actor: { epochs: 2, miniBatch: 1 }, kl: { controller: "adaptive", horizon: 50 } },
    ],
    [
      "a critic of its own",
      { algorithm: { estimator: "gae", bootstrapTruncated: true }, critic: { learningRate: 1e-3 } },
    ],
    ["a critic on the policy", { algorithm: { estimator: "gae" }, critic: { model: "shared" } }],
    ["the optimal token baseline", { algorithm: { estimator: "optimal-token-baseline" } }],
    ["LoRA", { model: { training: { lora: { rank: 2 } } } }],
    [
      "a curriculum by pass rate",
      { curriculum: { order: "pass-rate", dropUniform: true }, rollout: { truncated: "mask" } },
    ],
    ["a PRM", { reward: { mode: "prm" }, kl: { place: "reward" } }, () => ({ scorer: parityScorer })],
  ];

  it.each(SETTINGS)("with %s", async (_, more, hooks = () => ({})) => {
    const unbroken = await runTiny(more, hooks());
    const broken = await runInterrupted(more, 2, hooks);
    expect(broken.rows).toEqual(unbroken.rows);
    expect(modelOf(broken.folder).equals(modelOf(unbroken.folder))).toBe(true);
    expect(modelOf(broken.folder).equals(readFileSync(join(base, "model.safetensors")))).toBe(false);
    const rollouts = ({ folder }: { folder: string }) => readFileSync(join(folder, "rollouts.jsonl"), "utf8");
    expect(rollouts(broken)).toBe(rollouts(unbroken));
    expect(broken.before).toEqual(unbroken.before);
  });

  it("with a plugin and its state", async () => {
    const counter = (): TrainHooks => {
      let count = 0;
      const plugin: TrainPlugin = {
        name: "counter",
        async afterStep({ step, rollouts, verified }) {
          expect(rollouts.texts).toHaveLength(verified.length);
          count += step;
          return { "counter/sum": count };
        },
        async save(folder) {
          writeFileSync(join(folder, "note"), String(count));
          return count;
        },
        async restore(folder, state) {
          count = state as number;
          expect(readFileSync(join(folder, "note"), "utf8")).toBe(String(count));
        },
      };
      return { plugins: [plugin] };
    };
    const broken = await runInterrupted({}, 2, counter);
    expect(broken.rows.slice(1).map(({ metrics }) => metrics["counter/sum"])).toEqual([1, 3, 6, 10]);
  });

  it("and a run that is done is not repeated", async () => {
    const { folder, after, rows } = await runTiny();
    const again = await trainRl(tiny(base), { folder, resume: true, hooks: { reward: digits } });
    expect(again).toMatchObject({ step: 4, ended: "done", after });
    expect(numbersOf(folder)).toEqual(rows);
  });
});

describe("a guard", () => {
  const at = (step: number, action: "alarm" | "stop" | "rollback"): Guard => ({
    check: (now) => (now === step ? { action, reason: "test" } : undefined),
    state: () => null,
    restore: () => {},
  });

  it("raises alarms", async () => {
    const warnings: string[] = [];
    const { rows, ended } = await runTiny(
      {},
      { guard: at(2, "alarm"), onWarning: (text) => warnings.push(text) },
    );
    expect(ended).toBe("done");
    expect(rows.map(({ metrics }) => metrics["guard/alarm"])).toEqual([undefined, 0, 1, 0, 0]);
    expect(warnings).toEqual(["step 2: alarm: test"]);
  });

  it("ends the run with the present policy, or with that of the last checkpoint", async () => {
    const stopped = await runTiny({}, { guard: at(3, "stop") });
    expect(stopped).toMatchObject({ step: 3, ended: "guard" });
    const shorter = await runTiny({ steps: 3 });
    expect(modelOf(stopped.folder).equals(modelOf(shorter.folder))).toBe(true);
    const back = await runTiny({}, { guard: at(3, "rollback") });
    expect(back).toMatchObject({ step: 3, ended: "guard" });
    const two = await runTiny({ steps: 2 });
    expect(modelOf(back.folder).equals(modelOf(two.folder))).toBe(true);
    const again = await trainRl(tiny(base), { folder: back.folder, resume: true, hooks: { reward: digits } });
    expect(again).toMatchObject({ step: 3, ended: "guard" });
  });
});

describe("what goes wrong", () => {
  it("names the step, and leaves the last checkpoint to go on from", async () => {
    const folder = nextFolder();
    let calls = 0;
    const failing: TrainHooks["reward"] = (rollouts, options) => {
      const result = digits(rollouts, options) as { rewards: number[][] };
      if (++calls === 3) result.rewards[0]![0] = Number.NaN;
      return result;
    };
    const config = tiny(base, { eval: { before: false, every: 0 } });
    await expect(trainRl(config, { folder, hooks: { reward: failing } })).rejects.toMatchObject({
      code: "ERR_NOT_FINITE",
      message: expect.stringMatching(/^step 3: /),
    });
    const resumed = await trainRl(config, { folder, resume: true, hooks: { reward: digits } });
    expect(resumed).toMatchObject({ step: 4, ended: "done" });
    const { folder: unbroken } = await runTiny({ eval: { before: false, every: 0 } });
    expect(modelOf(folder).equals(modelOf(unbroken))).toBe(true);
  });

  it.each([
    [{ data: { train: "none.jsonl" } }, /none\.jsonl/],
    [{ model: { path: "/none" } }, /\/none/],
    [{ rollout: { prompts: 20 } }, /expected at least rollout\.prompts = 20 prompts, got 12/],
    [{ reward: { mode: "prm" } }, /reward\.prm: expected a checkpoint folder/],
    [{ reward: { mode: "prm", prm: "/none" } }, /\/none/],
    [{ reward: { mode: "vr", prm: "/none" } }, /\/none/],
  ])("is said before anything is written: %j", async (more, message) => {
    const folder = nextFolder();
    await expect(trainRl(tiny(base, more as never), { folder })).rejects.toThrow(message);
    expect(existsSync(folder)).toBe(false);
  });

  it("refuses to go on under another config, naming the key", async () => {
    const { folder } = await runTiny();
    const other = trainRl(tiny(base, { rollout: { n: 5 } }), {
      folder,
      resume: true,
      hooks: { reward: digits },
    });
    await expect(other).rejects.toThrow(/rollout\.n was 4, is 5/);
    await expect(trainRl(tiny(base), { folder, hooks: { reward: digits } })).rejects.toThrow(
      /holds a run already/,
    );
  });

  it("refuses rewards that are not one per token", async () => {
    const wrong = runTiny({}, { reward: ({ texts }) => ({ rewards: texts.map(() => [1, 2]) }) });
    await expect(wrong).rejects.toThrow(
      /reward\.function: expected 1 or \d+ rewards for response \d+, got 2/,
    );
  });
});
