import type { TrainConfigInput } from "../config/schema.ts";
import type { PrmConfig } from "../prm/train.ts";
import type { PhaseProgress } from "../run/progress.ts";
import type { SftConfig } from "../sft/train.ts";

/** A step before the runs, done once per seed; its model is `setup:<as>` in what follows. */
export type SetupStep =
  | { readonly sft: SftConfig; readonly as?: string }
  | { readonly trainPrm: PrmConfig; readonly as?: string };

/** A matrix of runs over seeds and settings. */
export interface Experiment {
  readonly name: string;
  readonly seeds: readonly number[];
  readonly setup: readonly SetupStep[];
  /** What all runs share. */
  readonly base: TrainConfigInput;
  /** What each changes. */
  readonly runs: Readonly<Record<string, unknown>>;
}

/** What an experiment reports as it goes. */
export interface ExperimentProgress extends PhaseProgress {
  readonly seed: number;
  /** Of a set-up step or a run. */
  readonly name: string;
  /** Parts (set-up steps and runs) done, and in all. */
  readonly done: number;
  readonly total: number;
}

/** Options of {@link runExperiment}. */
export interface ExperimentOptions {
  /** Holds every run's folder; what is finished in it is not repeated. */
  readonly folder: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ExperimentProgress) => void;
  /** Called when a run has ended. */
  readonly onRun?: (run: ExperimentRun) => void;
}

/** A run of an experiment. */
export interface ExperimentRun {
  readonly name: string;
  readonly seed: number;
  readonly folder: string;
}

/** Reads an experiment from YAML and checks every run's config. */
export declare function readExperiment(path: string): Promise<Experiment>;
/** Runs what is not finished yet, seed by seed. */
export declare function runExperiment(
  experiment: Experiment,
  options: ExperimentOptions,
): Promise<readonly ExperimentRun[]>;
