import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openCheckpoint } from "../../../lib/model/index.ts";
import { arithmeticCodec as codec } from "../../../lib/train/arithmetic/codec.ts";
import { ARITHMETIC_MODEL } from "../../../lib/train/arithmetic/checkpoint.ts";
import { mixtureExample } from "../../../lib/train/arithmetic/data.ts";
import { promptOf } from "../../../lib/train/arithmetic/problem.ts";
import { mixtureRows } from "../../../lib/train/data/index.ts";
import { createModel, loadModel, type TrainableModel } from "../../../lib/train/engine/index.ts";
import { openCodec } from "../../../lib/train/text/codec.ts";
import { sftGradients, sftLoss } from "../../../lib/train/sft/loss.ts";
import { type SftConfig, trainSft } from "../../../lib/train/sft/train.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { rejection } from "../../support/errors.ts";
import { readWandb } from "../sinks/wandb-log.ts";
import { expectResumed, expectSameRun, metricsOf, modelOf, runPhase } from "../support.ts";

const root = await temporaryFolder();
const TINY: SftConfig = {
  model: "arithmetic",
  data: "arithmetic",
  rows: 60,
  steps: 12,
  batch: 8,
  learningRate: 4e-3,
  schedule: "cosine",
  warmup: 3,
  checkpointEvery: 4,
};

const LONG = { prompt: "1=", completion: "1".repeat(200) };

function gradientsOf(model: TrainableModel): Float32Array[] {
  return model.trainable().map(({ grad }) => Float32Array.from(grad!));
}

describe("the loss", () => {
  const rows = mixtureRows("train", codec, 7, 3);
  const fresh = () => createModel(ARITHMETIC_MODEL, { heads: { lm: true }, seed: 5 });

  it("is the mean of -log p over the tokens of the completions alone", async () => {
    const model = fresh();
    let [sum, count] = [0, 0];
    for (const { prompt, completion } of rows) {
      const ids = Int32Array.from([...prompt, ...completion]);
      const pass = await model.forward(
        { data: ids, offsets: Int32Array.of(0, ids.length) },
        { keep: "nothing" },
      );
      const reads = Int32Array.from({ length: ids.length - 1 }, (_, i) => i);
      const { logProbs } = await pass.logProbs(reads, ids.slice(1));
      const own = logProbs.subarray(prompt.length - 1);
      expect(own.length).toBe(completion.length);
      sum -= own.reduce((a, b) => a + b, 0);
      count += own.length;
    }
    expect(await sftLoss(model, rows, 1000)).toBeCloseTo(sum / count, 6);
    expect(await sftGradients(model, rows, { budget: 1000, keep: "activations" })).toBeCloseTo(
      sum / count,
      6,
    );
  });

  it.each([1, 40, 90])("and its gradient do not depend on micro-batches of %i tokens", async (budget) => {
    const [whole, split] = [fresh(), fresh()];
    const one = await sftGradients(whole, rows, { budget: 1000, keep: "activations" });
    const many = await sftGradients(split, rows, { budget, keep: "inputs" });
    expect(many).toBeCloseTo(one, 6);
    const wanted = gradientsOf(whole);
    const errors = gradientsOf(split).map((grad, i) => {
      const scale = Math.max(...wanted[i]!.map(Math.abs));
      return Math.max(...grad.map((value, j) => Math.abs(value - wanted[i]![j]!))) / scale;
    });
    expect(Math.max(...errors)).toBeLessThan(1e-5);
  });
});

describe("trainSft", () => {
  it("learns, and saves a checkpoint with its tokenizer", async () => {
    const folder = join(root, "learns");
    const { model: path, metrics, steps } = await trainSft(TINY, { folder });
    expect(steps).toBe(12);
    const rows = metricsOf(folder);
    expect(rows).toHaveLength(12);
    expect(rows[0]!.metrics["sft/loss"]).toBeGreaterThan(2.5); // ln 19 = 2.94
    expect(metrics["eval/loss"]).toBeLessThan(2.2);
    expect(rows.at(-1)!.metrics).toEqual(metrics);
    const model = await loadModel(await openCheckpoint(path), { heads: { lm: true } });
    const heldOut = mixtureRows("held-out", await openCodec(path), 500, 1);
    expect(await sftLoss(model, heldOut, 8192)).toBe(metrics["eval/loss"]);
  });

  it("trains from a file and from its own output, adapters merged", async () => {
    const file = join(root, "rows.jsonl");
    const examples = Array.from({ length: 20 }, (_, i) => mixtureExample("train", 1, i));
    const rows = examples.map(({ problem, tokens }) => ({
      prompt: promptOf(problem),
      completion: codec.decode(tokens),
    }));
    writeFileSync(file, rows.map((row) => JSON.stringify(row)).join("\n"));
    const base = await trainSft({ ...TINY, data: file, heldOut: file }, { folder: join(root, "file") });
    const config: SftConfig = {
      ...TINY,
      model: base.model,
      data: file,
      heldOut: file,
      training: { lora: { rank: 2 } },
    };
    const adapted = await trainSft(config, { folder: join(root, "lora") });
    expect(adapted.metrics["eval/loss"]).toBeLessThan(base.metrics["eval/loss"]!);
    const [before, after] = await Promise.all(
      [base, adapted].map(async ({ model }) =>
        loadModel(await openCheckpoint(model), { heads: { lm: true } }),
      ),
    );
    const changed = [...after!.parameters].filter(([name, { data }]) =>
      data.some((value, i) => value !== before!.parameters.get(name)!.data[i]),
    );
    expect(changed.map(([name]) => name.replace(/.*\./, "")).every((part) => part === "weight")).toBe(true);
    expect(changed.map(([name]) => name).filter((name) => !name.includes("proj"))).toEqual([]);
    expect(changed).toHaveLength(14);
  });

  it("leaves out rows that the model cannot hold, and says how many", async () => {
    const file = join(root, "some-long.jsonl");
    writeFileSync(
      file,
      [LONG, { prompt: "1=", completion: "1" }].map((row) => JSON.stringify(row)).join("\n"),
    );
    const config = { ...TINY, data: file, heldOut: file, steps: 1 };
    const { rows, metrics } = await trainSft(config, { folder: join(root, "some-long") });
    expect(rows).toEqual({ used: 1, tooLong: 1 });
    expect(metrics["eval/loss"]).toBeGreaterThan(0);
  });

  it("logs to what the config names", async () => {
    const folder = join(root, "logs");
    await trainSft({ ...TINY, steps: 2, log: { tensorboard: true, wandb: "offline" } }, { folder });
    expect(readdirSync(join(folder, "tensorboard"))).toEqual([expect.stringContaining("tfevents")]);
    const [log] = readdirSync(join(folder, "wandb"), { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".wandb"),
    );
    const records = readWandb(readFileSync(join(folder, "wandb", log!)));
    expect(records[1]!.run).toMatchObject({ project: "minform", displayName: "sft" });
    const losses = records.flatMap(({ history }) => (history === undefined ? [] : [history["sft/loss"]]));
    expect(losses).toEqual(metricsOf(folder).map(({ metrics }) => metrics["sft/loss"]));
  });

  it("gives the same bits for the same seed, and others for another", async () => {
    const run = async (name: string, seed: number) => {
      await trainSft({ ...TINY, steps: 3, seed }, { folder: join(root, name) });
      return modelOf(join(root, name));
    };
    const one = await run("same-1", 1);
    expect(one.equals(await run("same-2", 1))).toBe(true);
    expect(one.equals(await run("other", 2))).toBe(false);
  });

  it("finishes the step under way when it is stopped, and goes on to the same bits", async () => {
    const [whole, parts] = [join(root, "whole"), join(root, "parts")];
    await trainSft(TINY, { folder: whole });
    const controller = new AbortController();
    const stopped = trainSft(TINY, {
      folder: parts,
      signal: controller.signal,
      onProgress: ({ step }) => {
        if (step === 6) controller.abort(new Error("stop"));
      },
    });
    await expect(stopped).rejects.toThrow("stop");
    expect(metricsOf(parts)).toHaveLength(6);
    await trainSft(TINY, { folder: parts, resume: true });
    expectSameRun(parts, whole);
  });

  it("names the step when numbers are no longer finite, and the last checkpoint stays", async () => {
    const folder = join(root, "overflow");
    const config: SftConfig = { ...TINY, learningRate: 1e25, warmup: 0, checkpointEvery: 1 };
    const error = await rejection(() => trainSft(config, { folder }));
    expect(error.code).toBe("ERR_NOT_FINITE");
    expect(error.message).toMatch(/^step 2: /);
    expect(readdirSync(join(folder, "checkpoints"))).toEqual(["step-000001"]);
  });

  it("gives a finished run again without a step", async () => {
    const folder = join(root, "again");
    const first = await trainSft({ ...TINY, steps: 2 }, { folder });
    let steps = 0;
    const second = await trainSft({ ...TINY, steps: 2 }, { folder, resume: true, onProgress: () => steps++ });
    expect(second).toEqual(first);
    expect(steps).toBe(0);
  });
});

describe("killed", () => {
  it.each([2, 5, 9])(
    "after step %i it goes on to the same bits",
    async (killAfter) => {
      const config = { ...TINY, steps: 40, checkpointEvery: 4 };
      const [whole, torn] = [join(root, `unbroken-${killAfter}`), join(root, `torn-${killAfter}`)];
      await trainSft(config, { folder: whole });
      const { code } = await runPhase("sft", config, torn, { killAfter });
      expect(code).toBeNull();
      expect(metricsOf(torn).length).toBeLessThan(40);
      await expectResumed("sft", config, torn, whole);
    },
    240_000,
  );
});

describe("what is wrong", () => {
  it.each<[object, RegExp]>([
    [{ learningrate: 1 }, /sft: learningrate: no such key; did you mean learningRate\?/],
    [{ batch: 0 }, /sft: batch: expected number to be >=1/],
    [{ model: join(root, "no-model") }, /no-model/],
    [{ data: join(root, "no-data.jsonl") }, /no-data\.jsonl/],
  ])("is said: %j", async (more, message) => {
    const error = await rejection(() =>
      trainSft({ ...TINY, ...more } as SftConfig, { folder: join(root, "wrong") }),
    );
    expect(error).toMatchObject({ code: "ERR_INPUT", message: expect.stringMatching(message) });
  });

  it("is a file of which no row fits the model's context", async () => {
    const file = join(root, "long.jsonl");
    writeFileSync(file, `${JSON.stringify(LONG)}\n`);
    const error = await rejection(() => trainSft({ ...TINY, data: file }, { folder: join(root, "long") }));
    expect(error.message).toBe(`${file}: no row fits the model's 128 tokens`);
  });

  it("is a loss that is not finite: the last checkpoint stays", async () => {
    const folder = join(root, "nan");
    const config: SftConfig = {
      ...TINY,
      checkpointEvery: 1,
      learningRate: 1e30,
      schedule: "constant",
      warmup: 0,
    };
    expect(await rejection(() => trainSft(config, { folder }))).toMatchObject({ code: "ERR_NOT_FINITE" });
    const { step, folder: last } = JSON.parse(readFileSync(join(folder, "latest.json"), "utf8"));
    expect(step).toBe(metricsOf(folder).length);
    expect(readFileSync(join(folder, last, "weights.safetensors")).length).toBeGreaterThan(100_000);
  });
});
