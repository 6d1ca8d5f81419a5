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
  /** Rows that were given. */
  readonly rows: {
    /** Trained on. */
    readonly used: number;
    /** Left out: longer than the model's context. */
    readonly tooLong: number;
  };
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
  const { rows, tooLong, heldOut } = await readData(config, start.codec, model.config.maxLength);
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
  return { model: folder, steps, metrics, rows: { used: rows.length, tooLong } };
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
): Promise<{ rows: SftRow[]; tooLong: number; heldOut: SftRow[] }> {
  const { data, heldOut = data === EMBEDDED ? EMBEDDED : undefined, rows: made, seed } = config;
  const fits = ({ prompt, completion }: SftRow) => prompt.length + completion.length <= longest;
  const read = async (source: string, isTraining: boolean) =>
    source === EMBEDDED
      ? mixtureRows(isTraining ? "train" : "held-out", codec, isTraining ? made : HELD_OUT_ROWS, seed)
      : readSftRows(source, codec);
  const all = await read(data, true);
  const rows = all.filter(fits);
  if (rows.length === 0)
    throw new InputError("ERR_INPUT", `${data}: no row fits the model's ${longest} tokens`);
  const measured = heldOut === undefined ? [] : await read(heldOut, false);
  return { rows, tooLong: all.length - rows.length, heldOut: measured.filter(fits) };
}

async function save({ model, config, tokenizer }: Start, folder: string): Promise<void> {
  await saveModel(model, folder, {
    config,
    ...(tokenizer === undefined ? {} : { tokenizerFrom: tokenizer }),
  });
  if (tokenizer === undefined) await writeArithmeticTokenizer(folder);
}
