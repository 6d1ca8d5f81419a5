import { join } from "node:path";
import { InputError } from "../../errors.ts";
import { type Checkpoint, openCheckpoint } from "../../model/checkpoint.ts";
import { CONVENTION_FILE } from "../../prm/load.ts";
import { EpochSampler } from "../batches.ts";
import { trainingOf } from "../config/training.ts";
import { readStepwiseRows, type StepwiseRow } from "../data/stepwise.ts";
import { loadModel, readConfig } from "../engine/create.ts";
import type { TrainableModel } from "../engine/model.ts";
import { Optimizer } from "../engine/optimizer.ts";
import { saveModel } from "../engine/save.ts";
import { writeWhole } from "../../atomic-file.ts";
import { adamStep } from "../run/adam.ts";
import { RunFolder } from "../run/folder.ts";
import { runSteps } from "../run/loop.ts";
import { parseConfig } from "../run/parse.ts";
import type { PhaseOptions } from "../run/progress.ts";
import { loadOptimizer, loadWeights, saveOptimizer, saveWeights } from "../run/weights.ts";
import { openCodec, type TextCodec } from "../text/codec.ts";
import { type PrmConfig, prmSchema, type ResolvedPrmConfig } from "./config.ts";
import { trainedConvention } from "./convention.ts";
import { drawSolutions, keptRows } from "./embedded.ts";
import { countLabels, prmGradients } from "./loss.ts";
import { measurePrm, type PrmQuality } from "./quality.ts";
import { createScorer } from "./scorer.ts";
import { type EncodedSolution, encodeSolution, separatorIdOf } from "./solutions.ts";

export type { PrmConfig } from "./config.ts";
export type { PrmQuality } from "./quality.ts";

/** The stages of PRM training. */
export const PRM_STAGES = ["head", "all"] as const;

const trains = (stage: PrmStage["name"], { training, seed }: ResolvedPrmConfig) =>
  stage === "head" ? "heads" : trainingOf(training, seed);

/** A stage that was done. */
export interface PrmStage {
  /** Which one. */
  readonly name: (typeof PRM_STAGES)[number];
  /** On the held-out solutions, where there are any. */
  readonly quality?: PrmQuality;
}

/** What PRM training gave. */
export interface PrmResult {
  /** Folder of the trained PRM, for `minform score`. */
  readonly model: string;
  /** In their order. */
  readonly stages: readonly PrmStage[];
  /** Solutions that were given. */
  readonly rows: {
    /** Trained on. */
    readonly used: number;
    /** Left out: longer than the model's context. */
    readonly tooLong: number;
  };
}

const EMBEDDED = "arithmetic";

/**
 * Trains a process reward model as PURE does: a token classifier on the backbone of a checkpoint, the cross-entropy of
 * right against wrong read at the separator that closes each step; first the head alone, then all weights. After each
 * stage step accuracy and ProcessBench's F1 on the held-out solutions. Written to the run's folder are metrics.jsonl,
 * checkpoints, and at the end `model`, which `minform score` takes.
 *
 * @throws {@link InputError} `ERR_INPUT` for a config, a model or a row that is wrong, or a file that cannot be written;
 * {@link NumericError} when the loss or a gradient is not finite (the last checkpoint is then intact); `signal.reason`
 */
export async function trainPrm(given: PrmConfig, options: PhaseOptions): Promise<PrmResult> {
  const config = parseConfig(prmSchema, given, "train-prm");
  const checkpoint = await openCheckpoint(config.model);
  const codec = await openCodec(checkpoint.path);
  const { separator, headWidth: width } = config;
  const separatorId = separatorIdOf(codec, separator);
  // Made first: what it cannot hold is not to be found out after training.
  const convention = trainedConvention({
    separator,
    separatorId,
    bos: codec.bosId !== undefined,
    head: width === undefined ? "token-classification" : "mlp",
  });
  using run = await RunFolder.open(options.folder, { phase: "prm", config, resume: options.resume === true });
  const texts = await readData(config, checkpoint, codec, options.folder);
  const model = await loadModel(checkpoint, {
    heads: { classifier: { classes: 2, ...(width === undefined ? {} : { width }) } },
    seed: config.seed,
  });
  const encode = (rows: readonly StepwiseRow[]) => {
    const encoded = rows.map((row) => encodeSolution(row, codec, separatorId));
    return encoded.filter(({ ids }) => ids.length <= model.config.maxLength);
  };
  const fitting = encode(texts.rows);
  const rows = fitting.filter((row) => countLabels([row]) > 0);
  if (rows.length === 0)
    throw new InputError("ERR_INPUT", `${config.data}: no labelled solution fits the model`);
  const stages = await runStages(config, options, run, {
    model,
    rows,
    heldOut: encode(texts.heldOut),
    separatorId,
  });
  model.mergeAdapters();
  const folder = join(options.folder, "model");
  await saveModel(model, folder, { config: await readConfig(checkpoint), tokenizerFrom: checkpoint.path });
  writeWhole(join(folder, CONVENTION_FILE), `${JSON.stringify(convention, null, 2)}\n`);
  return { model: folder, stages, rows: { used: rows.length, tooLong: texts.rows.length - fitting.length } };
}

interface Training {
  readonly model: TrainableModel;
  readonly rows: readonly EncodedSolution[];
  readonly heldOut: readonly EncodedSolution[];
  readonly separatorId: number;
}

// The stages are one run of steps; where one ends, the next starts with a fresh optimiser.
async function runStages(
  config: ResolvedPrmConfig,
  options: PhaseOptions,
  run: RunFolder,
  { model, rows, heldOut, separatorId }: Training,
): Promise<PrmStage[]> {
  const plan = planStages(config, rows.length);
  const total = plan.at(-1)?.end ?? 0;
  const last = run.latest<{ stages: PrmStage[] }>();
  const from = last?.step ?? 0;
  const stages = [...(last?.state.stages ?? [])];
  // Where a stage has just ended the run goes on in it, as it was saved; the next step starts the next one.
  let current = plan.find(({ end }) => from <= end);
  model.train(trains(current?.name ?? "all", config));
  let optimizer = new Optimizer(model);
  if (last !== undefined) {
    await loadWeights(model, last.folder);
    await loadOptimizer(optimizer, model, last.folder);
  }
  const scorer = createScorer(model, { separatorId, batchTokens: config.microBatchTokens });
  const { microBatchTokens: budget, keep } = config;
  await runSteps(
    {
      run,
      phase: "prm",
      config,
      from,
      steps: total,
      checkpointEvery: config.checkpointEvery,
      async step(step) {
        if (step > current!.end) {
          current = plan.find(({ end }) => step <= end)!;
          model.train(trains(current.name, config));
          optimizer = new Optimizer(model);
        }
        const { name, start, end, sampler } = current!;
        const settings = config[name];
        const batch = sampler.at(step - 1 - start, settings.batch).map((row) => rows[row]!);
        const loss = await prmGradients(model, batch, { budget, keep });
        const { lr, grad_norm } = adamStep(optimizer, settings, step - start, end - start);
        const metrics = { "prm/loss": loss, "prm/lr": lr, "prm/grad_norm": grad_norm };
        if (step < end) return metrics;
        const quality = heldOut.length === 0 ? undefined : await measurePrm(scorer, heldOut);
        stages.push({ name, ...(quality === undefined ? {} : { quality }) });
        return { ...metrics, ...qualityMetrics(quality) };
      },
      part: () => current!.name,
      async save(folder) {
        await saveWeights(model, folder);
        await saveOptimizer(optimizer, model, folder);
      },
      state: () => ({ stages }),
    },
    options,
  );
  return stages;
}

interface PlannedStage {
  readonly name: (typeof PRM_STAGES)[number];
  /** Steps before it, and with it. */
  readonly start: number;
  readonly end: number;
  readonly sampler: EpochSampler;
}

function planStages(config: ResolvedPrmConfig, rows: number): PlannedStage[] {
  let start = 0;
  return PRM_STAGES.map((name, i) => {
    const { epochs, batch } = config[name];
    const end = start + Math.ceil((epochs * rows) / batch);
    const stage = { name, start, end, sampler: new EpochSampler(rows, config.seed + i) };
    start = end;
    return stage;
  }).filter((stage) => stage.end > stage.start);
}

function qualityMetrics(quality: PrmQuality | undefined): Record<string, number> {
  const known = Object.entries(quality ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [[`eval/${name}`, value] as const],
  );
  return Object.fromEntries(known);
}

async function readData(
  { data, heldOut, samples, heldOutSamples, seed }: ResolvedPrmConfig,
  checkpoint: Checkpoint,
  codec: TextCodec,
  folder: string,
): Promise<{ rows: StepwiseRow[]; heldOut: StepwiseRow[] }> {
  if (data !== EMBEDDED) {
    const rows = await readStepwiseRows(data);
    return { rows, heldOut: heldOut === undefined ? [] : await readStepwiseRows(heldOut) };
  }
  let policy: Promise<TrainableModel> | undefined;
  const draw = async (split: "train" | "held-out", count: number) => {
    policy ??= loadModel(checkpoint, { heads: { lm: true } });
    return drawSolutions(await policy, codec, { split, count, seed });
  };
  return {
    rows: await keptRows(folder, "train.jsonl", () => draw("train", samples)),
    heldOut:
      heldOut === undefined
        ? await keptRows(folder, "held-out.jsonl", () => draw("held-out", heldOutSamples))
        : await readStepwiseRows(heldOut),
  };
}
