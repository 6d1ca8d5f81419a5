import { join } from "node:path";
import { InputError } from "../../errors.ts";
import { openCheckpoint } from "../../model/checkpoint.ts";
import { ARITHMETIC_MODEL, writeArithmeticTokenizer } from "../arithmetic/checkpoint.ts";
import { arithmeticCodec } from "../arithmetic/codec.ts";
import { EpochSampler } from "../batches.ts";
import { trainingOf } from "../config/training.ts";
import { mixtureRows, readSftRows, type SftRow } from "../data/sft.ts";
import { createModel, loadModel, readConfig } from "../engine/create.ts";
import type { TrainableModel } from "../engine/model.ts";
import { Optimizer } from "../engine/optimizer.ts";
import { saveModel } from "../engine/save.ts";
import { adamStep } from "../run/adam.ts";
import { RunFolder } from "../run/folder.ts";
import { runSteps } from "../run/loop.ts";
import { parseConfig } from "../run/parse.ts";
import type { PhaseOptions } from "../run/progress.ts";
import { loadOptimizer, loadWeights, saveOptimizer, saveWeights } from "../run/weights.ts";
import { openCodec, type TextCodec } from "../text/codec.ts";
import { type ResolvedSftConfig, type SftConfig, sftSchema } from "./config.ts";
import { sftGradients, sftLoss } from "./loss.ts";

export type { SftConfig } from "./config.ts";

/** What supervised fine-tuning gave. */
export interface SftResult {
  /** Folder of the trained model. */
  readonly model: string;
  /** Optimiser steps. */
  readonly steps: number;
  /** Metrics of the last step: `sft/loss`, and `eval/loss` where there are held-out rows. */
  readonly metrics: Readonly<Record<string, number>>;
}

const EMBEDDED = "arithmetic";
const HELD_OUT_ROWS = 500;

interface Start {
  readonly model: TrainableModel;
  readonly codec: TextCodec;
  readonly config: Record<string, unknown>;
  /** Folder of the tokenizer; `undefined` for the embedded one. */
  readonly tokenizer?: string;
}

/**
 * Supervised fine-tuning: the mean of -log p over the completion tokens of a batch, by AdamW. Written to the run's folder
 * are metrics.jsonl, checkpoints, and at the end `model`, a checkpoint in Hugging Face layout.
 *
 * @throws {@link InputError} `ERR_INPUT` for a config, a model or a row that is wrong, or a file that cannot be written;
 * {@link NumericError} when the loss or a gradient is not finite (the last checkpoint is then intact); `signal.reason`
 */
export async function trainSft(given: SftConfig, options: PhaseOptions): Promise<SftResult> {
  const config = parseConfig(sftSchema, given, "sft");
  const start = await open(config);
  const { model } = start;
  const { rows, heldOut } = await readData(config, start.codec, model.config.maxLength);
  using run = await RunFolder.open(options.folder, {
    phase: "sft",
    config,
    resume: options.resume === true,
  });
  model.train(trainingOf(config.training, config.seed));
  const optimizer = new Optimizer(model);
  const last = run.latest<{ metrics: Record<string, number> }>();
  let metrics = last?.state.metrics ?? {};
  if (last !== undefined) {
    await loadWeights(model, last.folder);
    await loadOptimizer(optimizer, model, last.folder);
  }
  const steps = config.steps ?? Math.ceil((config.epochs * rows.length) / config.batch);
  const sampler = new EpochSampler(rows.length, config.seed);
  const { microBatchTokens: budget, keep } = config;
  await runSteps(
    {
      run,
      phase: "sft",
      config,
      from: last?.step ?? 0,
      steps,
      checkpointEvery: config.checkpointEvery,
      async step(step) {
        const batch = sampler.at(step - 1, config.batch).map((row) => rows[row]!);
        const loss = await sftGradients(model, batch, { budget, keep });
        const { lr, grad_norm } = adamStep(optimizer, config, step, steps);
        metrics = { "sft/loss": loss, "sft/lr": lr, "sft/grad_norm": grad_norm };
        const isDue = step === steps || (config.evaluateEvery > 0 && step % config.evaluateEvery === 0);
        if (isDue && heldOut.length > 0) metrics["eval/loss"] = await sftLoss(model, heldOut, budget);
        return metrics;
      },
      async save(folder) {
        await saveWeights(model, folder);
        await saveOptimizer(optimizer, model, folder);
      },
      state: () => ({ metrics }),
    },
    options,
  );
  model.mergeAdapters();
  const folder = join(options.folder, "model");
  await save(start, folder);
  return { model: folder, steps, metrics };
}

async function open({ model: from, seed }: ResolvedSftConfig): Promise<Start> {
  if (from === EMBEDDED) {
    const model = createModel(ARITHMETIC_MODEL, { heads: { lm: true }, seed });
    return { model, codec: arithmeticCodec, config: ARITHMETIC_MODEL };
  }
  const checkpoint = await openCheckpoint(from);
  const [model, codec, config] = await Promise.all([
    loadModel(checkpoint, { heads: { lm: true }, seed }),
    openCodec(checkpoint.path),
    readConfig(checkpoint),
  ]);
  return { model, codec, config, tokenizer: checkpoint.path };
}

async function readData(
  config: ResolvedSftConfig,
  codec: TextCodec,
  longest: number,
): Promise<{ rows: SftRow[]; heldOut: SftRow[] }> {
  const { data, heldOut = data === EMBEDDED ? EMBEDDED : undefined, rows, seed } = config;
  const read = async (source: string, isTraining: boolean) => {
    if (source === EMBEDDED)
      return mixtureRows(isTraining ? "train" : "held-out", codec, isTraining ? rows : HELD_OUT_ROWS, seed);
    const found = await readSftRows(source, codec);
    const long = found.findIndex(({ prompt, completion }) => prompt.length + completion.length > longest);
    if (long < 0) return found;
    throw new InputError(
      "ERR_INPUT",
      `${source}: row ${long + 1} is longer than the model's ${longest} tokens`,
    );
  };
  return {
    rows: await read(data, true),
    heldOut: heldOut === undefined ? [] : await read(heldOut, false),
  };
}

async function save({ model, config, tokenizer }: Start, folder: string): Promise<void> {
  await saveModel(model, folder, {
    config,
    ...(tokenizer === undefined ? {} : { tokenizerFrom: tokenizer }),
  });
  if (tokenizer === undefined) await writeArithmeticTokenizer(folder);
}
