import type { Optimizer } from "../engine/optimizer.ts";
import type { TrainableModel } from "../engine/model.ts";

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A line of metrics.jsonl. */
export interface MetricsRow {
  readonly step: number;
  readonly phase: string;
  /** Since the run began, its interruptions left out. */
  readonly seconds: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** The last checkpoint of a run. */
export interface RunCheckpoint<State extends Json = Json> {
  readonly step: number;
  /** Where its files lie. */
  readonly folder: string;
  readonly state: State;
}

/** Options of {@link RunFolder.open}. */
export interface RunOptions {
  /** Written into every line of the metrics. */
  readonly phase: string;
  /** The resolved config; a run goes on only under the same one. */
  readonly config: Json;
  /** Go on where an earlier run stood. Default false: a folder with a run in it is an error. */
  readonly resume?: boolean;
  /** Checkpoints kept. Default 2. */
  readonly keep?: number;
}

/** The folder of a run: config.json, environment.json, metrics.jsonl, rollouts.jsonl, checkpoints. */
export declare class RunFolder {
  static open(path: string, options: RunOptions): Promise<RunFolder>;
  readonly path: string;
  /** The last checkpoint when the run goes on; metrics and rollouts have been cut back to it. */
  latest<State extends Json>(): RunCheckpoint<State> | undefined;
  /** Appends to metrics.jsonl. */
  log(step: number, metrics: Readonly<Record<string, number>>): void;
  /** Appends to rollouts.jsonl. */
  rollouts(step: number, rows: readonly Json[]): void;
  /** Writes a checkpoint: it is there whole or not at all. */
  checkpoint(step: number, save: (folder: string) => Promise<void>, state: Json): Promise<void>;
}

/** Writes moments and step count of an optimizer into a folder. */
export declare function saveOptimizer(
  optimizer: Optimizer,
  model: TrainableModel,
  folder: string,
): Promise<void>;
/** Reads what {@link saveOptimizer} wrote. */
export declare function loadOptimizer(
  optimizer: Optimizer,
  model: TrainableModel,
  folder: string,
): Promise<void>;
