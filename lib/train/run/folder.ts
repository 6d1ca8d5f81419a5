import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ArgumentError, InputError } from "../../errors.ts";
import { assertCount } from "../../validate.ts";
import { writeWhole } from "../../atomic-file.ts";
import { LineFile } from "./append.ts";
import { type CheckpointRecord, readLatest, writeCheckpoint } from "./checkpoints.ts";
import { firstDifference } from "./difference.ts";
import { readEnvironment } from "./environment.ts";

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A line of metrics.jsonl. */
export interface MetricsRow {
  /** Step of the phase, from 1 on; 0 is before the first. */
  readonly step: number;
  /** Part of the work: `sft`, `prm`, `rl`. */
  readonly phase: string;
  /** Seconds since the run began, its interruptions left out. */
  readonly seconds: number;
  /** Numbers by name. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** The last checkpoint of a run. */
export interface RunCheckpoint<State> {
  /** The step that it was written after. */
  readonly step: number;
  /** Where its files lie. */
  readonly folder: string;
  /** What was saved with it. */
  readonly state: State;
}

/** Options of {@link RunFolder.open}. */
export interface RunOptions {
  /** Written into every line of the metrics. */
  readonly phase: string;
  /** The resolved config, as JSON; a run goes on only under the same one. */
  readonly config: object;
  /** Go on where an earlier run in the folder stood, if there is one. Default false: a run in the folder is an error. */
  readonly resume?: boolean;
  /** Checkpoints that are kept, the newest ones. Default 2. */
  readonly keep?: number;
}

const METRICS = "metrics.jsonl";
const ROLLOUTS = "rollouts.jsonl";

/**
 * The folder of a run: config.json, environment.json, metrics.jsonl, rollouts.jsonl, and checkpoints that latest.json
 * points into. A run that was killed at any point goes on from its last whole checkpoint, with metrics and rollouts cut
 * back to that step.
 */
export class RunFolder {
  /** The folder. */
  readonly path: string;
  readonly #phase: string;
  readonly #keep: number;
  readonly #last: CheckpointRecord | undefined;
  readonly #files: Readonly<Record<typeof METRICS | typeof ROLLOUTS, LineFile>>;
  readonly #began: number;

  private constructor(path: string, options: RunOptions, last: CheckpointRecord | undefined) {
    this.path = path;
    this.#phase = options.phase;
    this.#keep = options.keep ?? 2;
    this.#last = last;
    const open = (name: string) => new LineFile(join(path, name), last?.bytes[name] ?? 0);
    this.#files = { [METRICS]: open(METRICS), [ROLLOUTS]: open(ROLLOUTS) };
    this.#began = performance.now() - 1000 * (last?.seconds ?? 0);
  }

  /**
   * Opens the folder, which is made when missing.
   *
   * @throws {@link InputError} `ERR_INPUT` when there is a run in it and `resume` is false, when that run has another
   * config (the message names the key) or none, when a file cannot be written; {@link ArgumentError}
   */
  static async open(path: string, options: RunOptions): Promise<RunFolder> {
    const { keep = 2, resume = false } = options;
    assertCount(keep, "keep", 1);
    const file = join(path, "config.json");
    const config = JSON.parse(JSON.stringify(options.config)) as object;
    if (existsSync(file)) {
      if (!resume) {
        throw new InputError(
          "ERR_INPUT",
          `${path}: holds a run already; resume it, or choose another folder`,
        );
      }
      assertSameConfig(config, file);
    } else if (readLatest(path) !== undefined) {
      throw new InputError("ERR_INPUT", `${file}: expected the config of the run in the folder, found none`);
    } else {
      makeFolder(path);
      writeJson(file, config);
    }
    writeJson(join(path, "environment.json"), readEnvironment());
    return new RunFolder(path, options, readLatest(path));
  }

  /** The checkpoint that the run goes on from; `undefined` for a run from the start. */
  latest<State>(): RunCheckpoint<State> | undefined {
    if (this.#last === undefined) return undefined;
    const { step, folder, state } = this.#last;
    return { step, folder: join(this.path, folder), state: state as State };
  }

  /** Seconds that the run has taken, its interruptions left out. */
  get seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }

  /**
   * Appends a line to metrics.jsonl; numbers that are not finite are written as `null`.
   *
   * @throws {@link InputError} `ERR_INPUT` when it cannot be written, or another process works in the folder
   */
  log(step: number, metrics: Readonly<Record<string, number>>): void {
    const row: MetricsRow = { step, phase: this.#phase, seconds: this.seconds, metrics };
    this.#files[METRICS].append(row);
  }

  /** Appends rows to rollouts.jsonl, each with its step. Throws as {@link RunFolder.log}. */
  rollouts(step: number, rows: readonly object[]): void {
    for (const row of rows) this.#files[ROLLOUTS].append({ step, ...row });
  }

  /**
   * Writes a checkpoint, which is there whole or not at all.
   *
   * @param step - steps done
   * @param save - writes its files into a folder that is there
   * @param state - JSON that {@link RunFolder.latest} gives back
   * @throws {@link InputError} `ERR_INPUT` when a file cannot be written; the last checkpoint is then as it was
   */
  async checkpoint(step: number, save: (folder: string) => Promise<void>, state: unknown): Promise<void> {
    const bytes: Record<string, number> = {};
    for (const [name, file] of Object.entries(this.#files)) {
      file.flush();
      bytes[name] = file.length;
    }
    await writeCheckpoint(this.path, { step, state, seconds: this.seconds, bytes }, save, this.#keep);
  }

  /** Closes the files. */
  close(): void {
    for (const file of Object.values(this.#files)) file.close();
  }

  /** Same as {@link RunFolder.close}. */
  [Symbol.dispose](): void {
    this.close();
  }
}

function assertSameConfig(config: object, file: string): void {
  let before: unknown;
  try {
    before = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${file}: no JSON: ${(cause as Error).message}`, { cause });
  }
  const difference = firstDifference(before, config);
  if (difference === undefined) return;
  const { key, before: was, after } = difference;
  throw new InputError(
    "ERR_INPUT",
    `${file}: a run goes on only under its own config: ${key || "config"} was ${JSON.stringify(was)}, is ${JSON.stringify(after)}`,
  );
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: cannot be made: ${(cause as Error).message}`, { cause });
  }
}

function writeJson(path: string, value: object): void {
  writeWhole(path, `${JSON.stringify(value, null, 2)}\n`);
}
