import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withModels } from "../../../lib/train/experiment/experiment.ts";
import { readExperiment, runExperiment } from "../../../lib/train/experiment/index.ts";
import { readRecord } from "../../../lib/train/experiment/record.ts";
import type { Trainers } from "../../../lib/train/experiment/run.ts";
import { prmSchema } from "../../../lib/train/prm/config.ts";
import { embeddedPrm, embeddedSft } from "../../../lib/train/pure/recipe.ts";
import { sftSchema } from "../../../lib/train/sft/config.ts";
import { temporaryFolder } from "../../support/rollouts.ts";

const root = temporaryFolder();
let files = 0;
const write = (text: string) => {
  const path = join(root, `experiment-${files++}.yaml`);
  writeFileSync(path, text);
  return path;
};

for (const name of ["rows.jsonl", "prompts.jsonl"]) writeFileSync(join(root, name), "");

const SPEC = `
name: a comparison
seeds: [3, 5]
setup:
  - sft: { model: arithmetic, data: rows.jsonl }
  - trainPrm: { model: setup:sft, data: arithmetic }
    as: judge
base:
  steps: 7
  model: { path: setup:sft }
  data: { train: "arithmetic:train", eval: prompts.jsonl }
  reward: { mode: prm, prm: setup:judge }
  kl: { coefficient: 0.1 }
runs:
  min:
  sum-strong: { reward: { credit: sum }, kl: { coefficient: 0.3 } }
`;

describe("an experiment", () => {
  it("is read with every run's whole config", async () => {
    const { name, seeds, setup, runs } = await readExperiment(write(SPEC));
    expect({ name, seeds }).toEqual({ name: "a comparison", seeds: [3, 5] });
    expect(setup).toMatchObject([
      { as: "sft", sft: { model: "arithmetic", data: join(root, "rows.jsonl"), batch: 32 } },
      { as: "judge", trainPrm: { model: "setup:sft", data: "arithmetic" } },
    ]);
    const [min, sum] = [runs.min!, runs["sum-strong"]!];
    expect(min).toMatchObject({
      name: "min",
      steps: 7,
      model: { path: "setup:sft" },
      data: { train: "arithmetic:train", eval: join(root, "prompts.jsonl") },
      reward: { mode: "prm", prm: "setup:judge", credit: "min-form" },
      kl: { coefficient: 0.1 },
    });
    const { name: _, reward, kl, ...rest } = sum;
    expect({ credit: reward.credit, mode: reward.mode, kl: kl.coefficient }).toEqual({
      credit: "sum",
      mode: "prm",
      kl: 0.3,
    });
    expect(min).toMatchObject(rest);
  });

  it.each([
    [
      "a key of a run",
      "sum-strong: { reward: { credit: sum }",
      "sum-strong: { reward: { credti: sum }",
      /runs\.sum-strong: reward\.credti: no such key; did you mean reward\.credit\?/,
    ],
    ["a value of a run", "{ credit: sum }", "{ credit: summ }", /runs\.sum-strong: reward\.credit: /],
    ["a key of the set-up", "data: rows.jsonl", "dat: rows.jsonl", /setup\.sft: .*dat: no such key/s],
    ["a key of the file", "seeds:", "seed:", /seed: no such key; did you mean seeds\?/],
    [
      "a set-up step that is not there",
      "path: setup:sft",
      "path: setup:sfd",
      /runs\.min: setup:sfd: no such set-up step; known: sft, judge/,
    ],
    [
      "a set-up step that comes later",
      "model: arithmetic",
      "model: setup:judge",
      /setup\.sft: setup:judge: no such set-up step; there is none before it/,
    ],
    [
      "a PRM that is not there",
      "{ credit: sum }",
      "{ credit: sum, prm: no-prm }",
      /runs\.sum-strong: reward\.prm: .*\/no-prm: no such file or folder/,
    ],
    [
      "a policy that is not there",
      "path: setup:sft",
      "path: no/policy",
      /runs\.min: model\.path: .*\/no\/policy: no such file or folder/,
    ],
    ["data that are not there", "prompts.jsonl", "no.jsonl", /runs\.min: data\.eval: .*\/no\.jsonl: no such/],
    ["rows that are not there", "rows.jsonl", "no.jsonl", /setup\.sft: data: .*\/no\.jsonl: no such/],
    [
      "a model that is not there",
      "model: arithmetic",
      "model: no-model",
      /setup\.sft: model: .*\/no-model: no such/,
    ],
    ["two set-up steps of one name", "as: judge", "as: sft", /two steps are called sft/],
    ["a seed twice", "[3, 5]", "[3, 3]", /seeds: expected each seed once/],
    ["a run that is no folder's name", "  min:", "  ../min:", /runs: ..\/min: expected a name of letters/],
  ])("names what is wrong: %s", async (_, from, to, message) => {
    expect(SPEC).toContain(from);
    await expect(readExperiment(write(SPEC.replace(from, to)))).rejects.toThrow(message);
  });

  it("needs a run", async () => {
    await expect(readExperiment(write(`${SPEC.split("runs:")[0]}runs: {}`))).rejects.toThrow(
      /at least one run/,
    );
  });
});

// Trainers that note what they are asked for, and leave what the real ones do.
function recorder(fail?: (folder: string) => Error | "interrupted" | undefined) {
  const calls: { folder: string; config: Record<string, unknown>; resume: boolean | undefined }[] = [];
  const trainer = async (config: object, { folder, resume, onProgress }: Parameters<Trainers["rl"]>[1]) => {
    calls.push({ folder, config: config as Record<string, unknown>, resume });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "metrics.jsonl"), "");
    onProgress?.({ phase: "rl", step: 1, steps: 1, metrics: {} });
    const failure = fail?.(folder);
    if (failure instanceof Error) throw failure;
    return { model: join(folder, "model"), ended: failure ?? "done" };
  };
  return { calls, trainers: { sft: trainer, prm: trainer, rl: trainer } as unknown as Trainers };
}

let folders = 0;
const fresh = () => join(root, `out-${folders++}`);

describe("running an experiment", () => {
  it("does the set-up of a seed, then its runs, with their models and the seed", async () => {
    const experiment = await readExperiment(write(SPEC));
    const folder = fresh();
    const { calls, trainers } = recorder();
    const progress: string[] = [];
    const told: number[] = [];
    const runs = await runExperiment(experiment, {
      folder,
      trainers,
      onProgress: ({ name, seed, done, total }) => progress.push(`${done} of ${total}: ${name} ${seed}`),
      onRun: async (finished) => void told.push(finished.length),
    });
    const at = (seed: number, ...path: string[]) => join(folder, `seed-${seed}`, ...path);
    expect(calls.map((call) => call.folder)).toEqual(
      [3, 5].flatMap((seed) => [
        at(seed, "setup", "sft"),
        at(seed, "setup", "judge"),
        at(seed, "runs", "min"),
        at(seed, "runs", "sum-strong"),
      ]),
    );
    expect(calls.every(({ resume }) => resume === true)).toBe(true);
    expect(calls.map(({ config }) => config.seed)).toEqual([3, 3, 3, 3, 5, 5, 5, 5]);
    expect(calls[5]!.config).toMatchObject({ model: at(5, "setup", "sft", "model") });
    expect(calls[7]!.config).toMatchObject({
      model: { path: at(5, "setup", "sft", "model") },
      reward: { prm: at(5, "setup", "judge", "model"), credit: "sum" },
    });
    expect(progress[0]).toBe("0 of 8: sft 3");
    expect(progress.at(-1)).toBe("7 of 8: sum-strong 5");
    expect(told).toEqual([1, 2, 3, 4]);
    expect(runs.map(({ label, seed }) => `${label} ${seed}`)).toEqual([
      "min 3",
      "sum-strong 3",
      "min 5",
      "sum-strong 5",
    ]);
    const record = readRecord(folder);
    expect(record).toMatchObject({ name: "a comparison", runs });
    expect(record.setup.map(({ label, seed }) => `${label} ${seed}`)).toEqual([
      "sft 3",
      "judge 3",
      "sft 5",
      "judge 5",
    ]);
  });

  it("does not repeat what is finished, and goes on with what failed", async () => {
    const experiment = await readExperiment(write(SPEC));
    const folder = fresh();
    const broken = recorder((path) =>
      path.endsWith("seed-5/runs/min") ? new Error("disk full") : undefined,
    );
    await expect(runExperiment(experiment, { folder, trainers: broken.trainers })).rejects.toThrow(
      "disk full",
    );
    expect(broken.calls).toHaveLength(7);
    expect(readRecord(folder).runs.map(({ label, seed }) => `${label} ${seed}`)).toEqual([
      "min 3",
      "sum-strong 3",
      "min 5",
    ]);
    const { calls, trainers } = recorder();
    const told: number[] = [];
    const runs = await runExperiment(experiment, {
      folder,
      trainers,
      onRun: async (finished) => void told.push(finished.length),
    });
    expect(calls.map((call) => call.folder.slice(folder.length))).toEqual([
      "/seed-5/runs/min",
      "/seed-5/runs/sum-strong",
    ]);
    expect(told).toEqual([3, 4]);
    expect(runs).toHaveLength(4);
    const again = recorder();
    await runExperiment(experiment, { folder, trainers: again.trainers });
    expect(again.calls).toEqual([]);
  });

  it("does not take a run that was done with another config for its own", async () => {
    const folder = fresh();
    await runExperiment(await readExperiment(write(SPEC)), { folder, trainers: recorder().trainers });
    const changed = await readExperiment(write(SPEC.replace("coefficient: 0.3", "coefficient: 0.2")));
    const { calls, trainers } = recorder();
    await expect(runExperiment(changed, { folder, trainers })).rejects.toThrow(
      `${folder}: 2 parts were begun with another config: seed-3/runs/sum-strong, seed-5/runs/sum-strong; ` +
        "in seed-3/runs/sum-strong kl.coefficient was 0.3, is 0.2; remove their folders to do it again",
    );
    expect(calls).toEqual([]);
  });

  it("nor one that has only begun, and then runs nothing that comes before it", async () => {
    const folder = fresh();
    const experiment = await readExperiment(write(SPEC));
    const begun = join(folder, "seed-5", "runs", "min");
    mkdirSync(begun, { recursive: true });
    const modelOf = (step: string) => join(folder, "seed-5", "setup", step, "model");
    const config = { ...withModels(experiment.runs.min!, modelOf), seed: 5 };
    writeFileSync(join(begun, "config.json"), JSON.stringify({ ...config, steps: 8 }));
    const { calls, trainers } = recorder();
    await expect(runExperiment(experiment, { folder, trainers })).rejects.toThrow(
      /a part was begun with another config: seed-5\/runs\/min; in seed-5\/runs\/min steps was 8, is 7; remove its folder/,
    );
    expect(calls).toEqual([]);
    writeFileSync(join(begun, "config.json"), JSON.stringify(config));
    await runExperiment(experiment, { folder, trainers });
    expect(calls).toHaveLength(8);
  });

  it("ends after the step under way when it is interrupted, and does not count that run as done", async () => {
    const experiment = await readExperiment(write(SPEC));
    const folder = fresh();
    const controller = new AbortController();
    const { calls, trainers } = recorder((path) => {
      if (!path.endsWith("runs/min")) return undefined;
      controller.abort(new Error("Ctrl-C"));
      return "interrupted";
    });
    const options = { folder, trainers, signal: controller.signal };
    await expect(runExperiment(experiment, options)).rejects.toThrow("Ctrl-C");
    expect(calls).toHaveLength(3);
    expect(existsSync(join(folder, "seed-3", "runs", "min", "done.json"))).toBe(false);
    expect(existsSync(join(folder, "seed-3", "setup", "judge", "done.json"))).toBe(true);
  });

  it("adds runs to an experiment that is done", async () => {
    const folder = fresh();
    await runExperiment(await readExperiment(write(SPEC)), { folder, trainers: recorder().trainers });
    const { calls, trainers } = recorder();
    await runExperiment(await readExperiment(write(`${SPEC}  mean: { reward: { credit: mean } }\n`)), {
      folder,
      trainers,
    });
    expect(calls.map((call) => call.folder.slice(folder.length))).toEqual([
      "/seed-3/runs/mean",
      "/seed-5/runs/mean",
    ]);
  });

  it("says where nothing can be written", async () => {
    const path = write("a file");
    await expect(
      runExperiment(await readExperiment(write(SPEC)), {
        folder: join(path, "out"),
        trainers: recorder().trainers,
      }),
    ).rejects.toThrow(/cannot be made/);
  });
});

describe("the example", () => {
  it("is valid, and has the settings that its guide speaks of", async () => {
    const path = join(import.meta.dirname, "../../../examples/credit-comparison.yaml");
    const { seeds, setup, runs } = await readExperiment(path);
    expect(setup).toEqual([
      { as: "sft", sft: sftSchema.parse(embeddedSft(1)) },
      { as: "prm", trainPrm: prmSchema.parse(embeddedPrm("setup:sft", 1)) },
    ]);
    expect(seeds).toHaveLength(3);
    expect(new Set(Object.values(runs).map(({ reward }) => reward.mode))).toEqual(
      new Set(["vr", "prm", "prm+vr"]),
    );
    expect(new Set(Object.values(runs).map(({ reward }) => reward.credit))).toEqual(
      new Set(["min-form", "sum", "strict-min-form"]),
    );
    const guide = readFileSync(join(import.meta.dirname, "../../../docs/guides/experiments.md"), "utf8");
    for (const name of Object.keys(runs)) expect(guide).toContain(`\`${name}\``);
  });
});
