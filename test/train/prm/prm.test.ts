import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openCheckpoint } from "../../../lib/model/index.ts";
import { arithmeticCodec as codec } from "../../../lib/train/arithmetic/codec.ts";
import { ARITHMETIC_MODEL } from "../../../lib/train/arithmetic/checkpoint.ts";
import { mixtureExample, labelSolution, stepTexts } from "../../../lib/train/arithmetic/data.ts";
import { SEPARATOR } from "../../../lib/train/arithmetic/vocabulary.ts";
import { readStepwiseRows } from "../../../lib/train/data/index.ts";
import { createModel, loadModel, type TrainableModel } from "../../../lib/train/engine/index.ts";
import { countLabels, prmGradients } from "../../../lib/train/prm/loss.ts";
import { encodeSolution, separatorIdOf } from "../../../lib/train/prm/solutions.ts";
import { type PrmConfig, trainPrm } from "../../../lib/train/prm/train.ts";
import type { PhaseProgress } from "../../../lib/train/run/progress.ts";
import { trainSft } from "../../../lib/train/sft/train.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { rejection } from "../../support/errors.ts";
import { expectResumed, metricsOf, modelOf, runPhase } from "../support.ts";

const root = await temporaryFolder();
const { model: base } = await trainSft(
  { model: "arithmetic", data: "arithmetic", rows: 400, steps: 60, learningRate: 4e-3, warmup: 10 },
  { folder: join(root, "base") },
);
const TINY: PrmConfig = {
  model: base,
  data: "arithmetic",
  samples: 60,
  heldOutSamples: 20,
  separator: "\n\n",
  headWidth: 8,
  head: { epochs: 1, batch: 10, learningRate: 5e-3 },
  all: { epochs: 1, batch: 10, learningRate: 3e-3 },
  checkpointEvery: 4,
};
const solutions = Array.from({ length: 9 }, (_, i) => {
  const { problem, tokens } = mixtureExample("train", 4, i);
  return labelSolution(problem, stepTexts(codec.decode(tokens)), true);
});

describe("an encoded solution", () => {
  it("has its steps closed by the separator, and labels there alone", () => {
    const row = {
      prompt: "4-3+1=",
      completions: ["4-3=2", "2+1=3", "\\boxed{3}"],
      labels: [false, null, null],
    };
    const { ids, ends, labels } = encodeSolution(row, codec, SEPARATOR);
    expect(codec.decode(ids)).toBe("4-3+1=4-3=2\n\n2+1=3\n\n\\boxed{3}\n\n");
    expect(Array.from(ends, (end) => ids[end])).toEqual([SEPARATOR, SEPARATOR, SEPARATOR]);
    expect([ids[0], ends.at(-1), labels]).toEqual([1, ids.length - 1, row.labels]);
  });

  it("needs a separator of one token", () => {
    expect(() => separatorIdOf(codec, "==")).toThrow(
      'separator: expected text of one token, "==" has 2 (6 6)',
    );
  });
});

describe("labels of the embedded task", () => {
  it("end at the first error, and a box counts as right only at the end", () => {
    const { problem } = mixtureExample("train", 4, 0);
    const right = `\\boxed{${problem.answer}}`;
    let total = problem.first;
    const steps = problem.terms.map(({ sign, digit }) => {
      const left = total;
      total += sign === "+" ? digit : -digit;
      return `${left}${sign}${digit}=${total}`;
    });
    const labels = (...given: string[]) => labelSolution(problem, given, true).labels;
    expect(labels(...steps, right)).toEqual([...steps.map(() => true), true]);
    expect(labels(right)).toEqual([false]);
    expect(labels(...steps, right, right).slice(steps.length)).toEqual([false, null]);
    expect(labelSolution(problem, [...steps, right], false).labels.at(-1)).toBe(false);
    expect(labels("1=2", ...steps)).toEqual([false, ...steps.map(() => null)]);
  });
});

describe("the loss", () => {
  const rows = solutions.map((row) => encodeSolution(row, codec, SEPARATOR));
  const fresh = () =>
    createModel(ARITHMETIC_MODEL, { heads: { classifier: { classes: 2, width: 16 } }, seed: 5 });
  const gradients = (model: TrainableModel) => model.trainable().map(({ grad }) => Float32Array.from(grad!));

  it("is the mean cross-entropy at labelled separators; its gradient is that of finite differences", async () => {
    const model = fresh();
    let sum = 0;
    for (const { ids, ends, labels } of rows) {
      const pass = await model.forward(
        { data: ids, offsets: Int32Array.of(0, ids.length) },
        { keep: "nothing" },
      );
      const logits = await pass.readout("classifier", ends);
      labels.forEach((label, k) => {
        if (label === null) return;
        const [bad, good] = [logits[2 * k]!, logits[2 * k + 1]!];
        sum += Math.log(Math.exp(bad) + Math.exp(good)) - (label ? good : bad);
      });
    }
    const loss = await prmGradients(model, rows, { budget: 4096, keep: "activations" });
    expect(loss).toBeCloseTo(sum / countLabels(rows), 5);
    const bias = model.parameters.get("score.2.bias")!;
    const grad = Float32Array.from(bias.grad!);
    for (const i of [0, 1]) {
      const at = async (shift: number) => {
        const moved = fresh();
        moved.parameters.get("score.2.bias")!.data[i]! += shift;
        return prmGradients(moved, rows, { budget: 4096, keep: "activations" });
      };
      expect(((await at(0.01)) - (await at(-0.01))) / 0.02).toBeCloseTo(grad[i]!, 3);
    }
  });

  it.each([1, 50, 120])("and its gradient do not depend on micro-batches of %i tokens", async (budget) => {
    const [whole, split] = [fresh(), fresh()];
    const one = await prmGradients(whole, rows, { budget: 4096, keep: "activations" });
    expect(await prmGradients(split, rows, { budget, keep: "inputs" })).toBeCloseTo(one, 6);
    const wanted = gradients(whole);
    const errors = gradients(split).map((grad, i) => {
      const scale = Math.max(...wanted[i]!.map(Math.abs));
      return Math.max(...grad.map((value, j) => Math.abs(value - wanted[i]![j]!))) / (scale + 1e-9);
    });
    expect(Math.max(...errors)).toBeLessThan(1e-5);
  });

  it("does not see steps without a label", async () => {
    const cut = rows.map((row) => ({
      ...row,
      labels: row.labels.map((label, k) => (k === 0 ? label : null)),
    }));
    const first = rows.map(({ ids, ends, labels }) => ({
      ids: ids.slice(0, ends[0]! + 1),
      ends: ends.slice(0, 1),
      labels: labels.slice(0, 1),
    }));
    const [one, other] = [fresh(), fresh()];
    const settings = { budget: 4096, keep: "activations" } as const;
    expect(await prmGradients(one, cut, settings)).toBeCloseTo(await prmGradients(other, first, settings), 6);
  });
});

describe("trainPrm", () => {
  it("trains the head, then all weights, and measures after each stage", async () => {
    const folder = join(root, "stages");
    const parts: (string | undefined)[] = [];
    const onProgress = ({ part }: PhaseProgress) => void parts.push(part);
    const { model: path, stages, rows } = await trainPrm(TINY, { folder, onProgress });
    expect(parts.join()).toBe(`${"head,".repeat(6)}${"all,".repeat(6).slice(0, -1)}`);
    expect(rows).toEqual({ used: 60, tooLong: 0 });
    expect(stages.map(({ name }) => name)).toEqual(["head", "all"]);
    for (const { quality } of stages) {
      expect(quality!.accuracy).toBeGreaterThan(0);
      expect(quality!.accuracy).toBeLessThanOrEqual(1);
    }
    const metrics = metricsOf(folder);
    expect(metrics.map(({ step }) => step)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    expect(metrics.flatMap(({ step, metrics: row }) => ("eval/accuracy" in row ? [step] : []))).toEqual([
      6, 12,
    ]);
    expect(metrics[11]!.metrics["eval/accuracy"]).toBe(stages[1]!.quality!.accuracy);
    expect(readFileSync(join(path, "config.json"), "utf8")).toContain("LlamaForTokenClassification");
  });

  it("leaves the backbone as it was in the first stage", async () => {
    const { model: path } = await trainPrm(
      { ...TINY, all: { epochs: 0 } },
      { folder: join(root, "head-only") },
    );
    const [before, after] = await Promise.all([
      loadModel(await openCheckpoint(base), { heads: { lm: true } }),
      loadModel(await openCheckpoint(path), { heads: { classifier: { classes: 2, width: 8 } } }),
    ]);
    for (const [name, { data }] of after.parameters) {
      if (name.startsWith("model.")) expect(data).toEqual(before.parameters.get(name)!.data);
    }
    const stage2 = await loadModel(await openCheckpoint(join(root, "stages", "model")), {
      heads: { classifier: { classes: 2, width: 8 } },
    });
    const name = "model.layers.0.self_attn.q_proj.weight";
    expect(stage2.parameters.get(name)!.data).not.toEqual(before.parameters.get(name)!.data);
  });

  it("trains adapters in the second stage, and merges them", async () => {
    const open = async (path: string) =>
      loadModel(await openCheckpoint(path), { heads: { classifier: { classes: 2, width: 8 } } });
    const folder = join(root, "adapters");
    await trainPrm({ ...TINY, training: { lora: { rank: 2, targets: ["q_proj", "up_proj"] } } }, { folder });
    const [before, after] = await Promise.all([
      open(join(root, "head-only", "model")),
      open(join(folder, "model")),
    ]);
    const changed = [...after.parameters].flatMap(([name, { data }]) =>
      data.some((value, i) => value !== before.parameters.get(name)!.data[i]) ? [name] : [],
    );
    const backbone = changed.filter((name) => name.startsWith("model."));
    expect(backbone).toHaveLength(4);
    for (const name of backbone) expect(name).toMatch(/(q|up)_proj\.weight$/);
    expect(changed.length).toBeGreaterThan(4);
  });

  it("writes its solutions as rows that it reads again, of problems that are apart", async () => {
    const folder = join(root, "stages");
    const [train, heldOut] = await Promise.all(
      ["train.jsonl", "held-out.jsonl"].map((name) => readStepwiseRows(join(folder, name))),
    );
    expect([train!.length, heldOut!.length]).toEqual([60, 20]);
    const prompts = new Set(train!.map(({ prompt }) => prompt));
    expect(heldOut!.filter(({ prompt }) => prompts.has(prompt))).toEqual([]);
    const again = await trainPrm(
      { ...TINY, data: join(folder, "train.jsonl"), heldOut: join(folder, "held-out.jsonl") },
      { folder: join(root, "from-file") },
    );
    expect(modelOf(join(root, "from-file")).equals(modelOf(folder))).toBe(true);
    expect(again.stages[1]!.quality).toBeDefined();
  });

  it("leaves out solutions that the model cannot hold, and says how many", async () => {
    const file = join(root, "long.jsonl");
    const long = { prompt: "1=", completions: ["1".repeat(150)], labels: [true] };
    const unlabelled = { prompt: "1=", completions: ["1"], labels: [null] };
    writeFileSync(file, [...solutions, long, unlabelled].map((row) => JSON.stringify(row)).join("\n"));
    const { rows, stages } = await trainPrm({ ...TINY, data: file }, { folder: join(root, "long") });
    expect(rows).toEqual({ used: 9, tooLong: 1 });
    expect(stages[0]).toEqual({ name: "head" });
  });
});

describe("trainPrm on rows of one's own", () => {
  const rightWrong = { prompt: "1+1=", completions: ["2", "3"], labels: [true, false] };
  const written = (name: string, ...rows: object[]) => {
    const path = join(root, `${name}.jsonl`);
    writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    return path;
  };

  it("does not call a solution without labels too long", async () => {
    const data = written("part-labelled", rightWrong, { ...rightWrong, labels: [null, null] });
    const { rows } = await trainPrm({ ...TINY, data }, { folder: join(root, "part-labelled") });
    expect(rows).toEqual({ used: 1, tooLong: 0 });
  });

  it("does not measure a model that has overflown: the last stage ends in an error", async () => {
    const data = written("overflow", rightWrong);
    const config = { ...TINY, data, heldOut: data, all: { epochs: 1, batch: 10, learningRate: 1e30 } };
    const error = await rejection(() => trainPrm(config, { folder: join(root, "overflow") }));
    expect(error.code).toBe("ERR_NOT_FINITE");
    expect(error.message).toMatch(/^step 2: readout: expected finite outputs, got NaN/);
  });
});

describe("killed", () => {
  // 6 steps of the head and 6 of all weights, checkpoints after 3, 6, 9 and 12.
  it.each<[number, PrmConfig["training"]]>([
    [2, "all"],
    [4, "all"],
    [7, "all"],
    [10, "all"],
    [7, { lora: { rank: 2 } }],
    [10, { lora: { rank: 2 } }],
  ])(
    "after step %i it goes on to the same bits, training %j",
    async (killAfter, training) => {
      const config = { ...TINY, training, checkpointEvery: 3 };
      const name = `${killAfter}-${typeof training}`;
      const [whole, torn] = [join(root, `unbroken-${name}`), join(root, `torn-${name}`)];
      await trainPrm(config, { folder: whole });
      await runPhase("train-prm", config, torn, { killAfter });
      await expectResumed("train-prm", config, torn, whole);
    },
    240_000,
  );
});

describe("what is wrong", () => {
  it.each<[object, RegExp]>([
    [{ heads: {} }, /train-prm: heads: no such key; did you mean head\?/],
    [{ head: { epochs: -1 } }, /train-prm: head\.epochs: expected number to be >=0/],
    [{ separator: "\n" }, /text: the tokenizer has no token for a part of "\\n"/],
    [{ separator: "\\n" }, /^train-prm: separator: holds a backslash followed by n/],
    [{ separator: "==" }, /separator: expected text of one token/],
    [{ data: join(root, "none.jsonl") }, /none\.jsonl/],
    [{ model: join(root, "none") }, /none/],
  ])("is said: %j", async (more, message) => {
    const error = await rejection(() =>
      trainPrm({ ...TINY, ...more } as PrmConfig, {
        folder: join(root, `wrong-${JSON.stringify(more).length}`),
      }),
    );
    expect(error.message).toMatch(message);
  });

  it("names a file without a labelled step", async () => {
    const file = join(root, "unlabelled.jsonl");
    writeFileSync(file, JSON.stringify({ prompt: "1=", completions: ["1=1"], labels: [null] }));
    const error = await rejection(() =>
      trainPrm({ ...TINY, data: file }, { folder: join(root, "unlabelled") }),
    );
    expect(error.message).toBe(`${file}: no labelled solution fits the model`);
  });
});
