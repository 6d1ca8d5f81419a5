import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../../errors.ts";
import { parseTrainConfig } from "../config/parse.ts";
import type { TrainConfig } from "../config/schema.ts";
import { prmSchema } from "../prm/config.ts";
import { trainPrm } from "../prm/train.ts";
import { trainRl } from "../rl/index.ts";
import { parseConfig } from "../run/parse.ts";
import type { PhaseOptions, PhaseProgress } from "../run/progress.ts";
import { sftSchema } from "../sft/config.ts";
import { trainSft } from "../sft/train.ts";
import { type Experiment, type SetupStep, withModels } from "./experiment.ts";
import {
  assertSameConfigs,
  type ExperimentRun,
  readDone,
  type RecordedPart,
  writeDone,
  writeRecord,
} from "./record.ts";

/** What an experiment reports as it goes. */
export interface ExperimentProgress extends PhaseProgress {
  /** Of the part under way. */
  readonly seed: number;
  /** Of a set-up step or a setting. */
  readonly name: string;
  /** Set-up steps and runs that are finished. */
  readonly done: number;
  /** Set-up steps and runs in all. */
  readonly total: number;
}

/** Options of {@link runExperiment}. */
export interface ExperimentOptions {
  /** Holds a folder per seed; what is finished in it is not repeated. */
  readonly folder: string;
  /** Ends the experiment after the step under way, which is saved: the next call goes on there. */
  readonly signal?: AbortSignal;
  /** Called after each step. */
  readonly onProgress?: (progress: ExperimentProgress) => void;
  /** Called when a run has finished in this call, with all that are finished. */
  readonly onRun?: (finished: readonly ExperimentRun[]) => Promise<void>;
  /** @internal What trains. */
  readonly trainers?: Trainers;
}

/** @internal What runs the parts of an experiment. */
export interface Trainers {
  readonly sft: typeof trainSft;
  readonly prm: typeof trainPrm;
  readonly rl: typeof trainRl;
}

interface Part extends RecordedPart {
  readonly name: string;
  readonly seed: number;
  readonly train: (options: PhaseOptions) => Promise<{ readonly model: string; readonly ended?: string }>;
}

/**
 * Runs what is not finished of an experiment, seed by seed: set-up, then every setting. Killed at any point, the next call
 * goes on from the last checkpoint, and what is finished is not done again.
 *
 * @returns all its runs
 * @throws {@link InputError} `ERR_INPUT` when the folder holds a part with another config, and what training throws;
 * `signal.reason` after an abort
 */
export async function runExperiment(
  { name, seeds, setup, runs }: Experiment,
  {
    folder,
    signal,
    onProgress,
    onRun,
    trainers = { sft: trainSft, prm: trainPrm, rl: trainRl },
  }: ExperimentOptions,
): Promise<readonly ExperimentRun[]> {
  const parts = (kind: string, labels: readonly string[]) =>
    seeds.flatMap((seed) =>
      labels.map((label) => ({ label, seed, folder: join(`seed-${seed}`, kind, label) })),
    );
  const names = { setup: setup.map(({ as }) => as), runs: Object.keys(runs) };
  const total = seeds.length * (names.setup.length + names.runs.length);
  const finished: ExperimentRun[] = [];
  let done = 0;
  const run = async (part: Part): Promise<boolean> => {
    const report = (progress: PhaseProgress) =>
      onProgress?.({ ...progress, seed: part.seed, name: part.name, done, total });
    const isNew = await runPart(part, signal, report);
    done++;
    return isNew;
  };
  const all = seeds.map((seed) => partsOf({ setup, runs }, seed, join(folder, `seed-${seed}`), trainers));
  // All at once and before anything runs: one by one they would come to light hours apart.
  assertSameConfigs(
    folder,
    all.flatMap((seed) => [...seed.setup, ...seed.runs]),
  );
  make(folder);
  writeRecord(folder, { name, setup: parts("setup", names.setup), runs: parts("runs", names.runs) });
  for (const seed of all) {
    for (const part of seed.setup) await run(part);
    for (const part of seed.runs) {
      const isNew = await run(part);
      finished.push({ label: part.name, seed: part.seed, folder: part.folder });
      if (isNew) await onRun?.(finished);
    }
  }
  return finished;
}

// All of a seed; a set-up step that is not done will leave its model where it is looked for.
function partsOf(
  { setup, runs }: Pick<Experiment, "setup" | "runs">,
  seed: number,
  folder: string,
  trainers: Trainers,
): { setup: Part[]; runs: Part[] } {
  const stepAt = (step: string) => join(folder, "setup", step);
  const modelOf = (step: string) => readDone(stepAt(step))?.model ?? join(stepAt(step), "model");
  return {
    setup: setup.map((step) => setupPart(withModels(step, modelOf), seed, stepAt(step.as), trainers)),
    runs: Object.entries(runs).map(([label, config]) =>
      settingPart(label, { ...withModels(config, modelOf), seed }, join(folder, "runs", label), trainers),
    ),
  };
}

function setupPart(step: SetupStep, seed: number, folder: string, trainers: Trainers): Part {
  const part = { name: step.as, seed, folder };
  if ("sft" in step) {
    const config = { ...step.sft, seed };
    const resolved = parseConfig(sftSchema, config, step.as);
    return { ...part, config, resolved, train: (options) => trainers.sft(config, options) };
  }
  const config = { ...step.trainPrm, seed };
  const resolved = parseConfig(prmSchema, config, step.as);
  return { ...part, config, resolved, train: (options) => trainers.prm(config, options) };
}

function settingPart(label: string, config: TrainConfig, folder: string, trainers: Trainers): Part {
  const train: Part["train"] = (options) => trainers.rl(config, options);
  return { name: label, seed: config.seed, folder, config, resolved: parseTrainConfig(config, label), train };
}

// Whether it was trained now.
async function runPart(
  { folder, config, train }: Part,
  signal: AbortSignal | undefined,
  onProgress: (progress: PhaseProgress) => void,
): Promise<boolean> {
  if (readDone(folder) !== undefined) return false;
  signal?.throwIfAborted();
  const { model, ended } = await train({ folder, resume: true, onProgress, ...(signal && { signal }) });
  if (ended === "interrupted") signal?.throwIfAborted();
  writeDone(folder, { config, model });
  return true;
}

function make(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${folder}: cannot be made: ${(cause as Error).message}`, { cause });
  }
}
