import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../../errors.ts";
import type { TrainConfig } from "../config/schema.ts";
import { trainPrm } from "../prm/train.ts";
import { trainRl } from "../rl/index.ts";
import type { PhaseOptions, PhaseProgress } from "../run/progress.ts";
import { trainSft } from "../sft/train.ts";
import { type Experiment, type SetupStep, withModels } from "./experiment.ts";
import { type ExperimentRun, readDone, writeDone, writeRecord } from "./record.ts";

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

interface Part {
  readonly name: string;
  readonly seed: number;
  readonly folder: string;
  readonly config: object;
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
  make(folder);
  writeRecord(folder, { name, setup: parts("setup", names.setup), runs: parts("runs", names.runs) });
  const total = seeds.length * (names.setup.length + names.runs.length);
  const finished: ExperimentRun[] = [];
  let done = 0;
  const run = async (part: Part): Promise<Ended> => {
    const report = (progress: PhaseProgress) =>
      onProgress?.({ ...progress, seed: part.seed, name: part.name, done, total });
    const ended = await runPart(part, signal, report);
    done++;
    return ended;
  };
  for (const seed of seeds) {
    const at = join(folder, `seed-${seed}`);
    const models = new Map<string, string>();
    const placed = <T>(config: T): T => withModels(config, (of) => models.get(of)!);
    for (const step of setup) {
      const path = join(at, "setup", step.as);
      models.set(step.as, (await run(setupPart(placed(step), seed, path, trainers))).model);
    }
    for (const [label, config] of Object.entries(runs)) {
      const path = join(at, "runs", label);
      const { isNew } = await run(settingPart(label, { ...placed(config), seed }, path, trainers));
      finished.push({ label, seed, folder: path });
      if (isNew) await onRun?.(finished);
    }
  }
  return finished;
}

function setupPart(step: SetupStep, seed: number, folder: string, trainers: Trainers): Part {
  const part = { name: step.as, seed, folder };
  if ("sft" in step) {
    const config = { ...step.sft, seed };
    return { ...part, config, train: (options) => trainers.sft(config, options) };
  }
  const config = { ...step.trainPrm, seed };
  return { ...part, config, train: (options) => trainers.prm(config, options) };
}

function settingPart(label: string, config: TrainConfig, folder: string, trainers: Trainers): Part {
  const train: Part["train"] = (options) => trainers.rl(config, options);
  return { name: label, seed: config.seed, folder, config, train };
}

interface Ended {
  readonly model: string;
  /** Whether it was trained now. */
  readonly isNew: boolean;
}

async function runPart(
  { folder, config, train }: Part,
  signal: AbortSignal | undefined,
  onProgress: (progress: PhaseProgress) => void,
): Promise<Ended> {
  const known = readDone(folder, config);
  if (known !== undefined) return { model: known.model, isNew: false };
  signal?.throwIfAborted();
  const { model, ended } = await train({ folder, resume: true, onProgress, ...(signal && { signal }) });
  if (ended === "interrupted") signal?.throwIfAborted();
  writeDone(folder, { config, model });
  return { model, isNew: true };
}

function make(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${folder}: cannot be made: ${(cause as Error).message}`, { cause });
  }
}
