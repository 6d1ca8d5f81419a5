import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { InputError } from "../../errors.ts";
import { writeWhole } from "../../atomic-file.ts";
import { firstDifference } from "../run/difference.ts";

/** @internal In the folder of an experiment: what belongs to it. */
export const EXPERIMENT_FILE = "experiment.json";

/** A part of an experiment: a run, or a step of a seed's set-up. */
export interface ExperimentRun {
  /** Name of the setting, or of the step. */
  readonly label: string;
  /** Its seed. */
  readonly seed: number;
  /** Its run's folder. */
  readonly folder: string;
}

/** @internal What belongs to an experiment. */
export interface ExperimentRecord {
  readonly name: string;
  readonly setup: readonly ExperimentRun[];
  readonly runs: readonly ExperimentRun[];
}

const parts = z.array(z.object({ label: z.string(), seed: z.int(), folder: z.string() }));
const schema = z.object({ name: z.string(), setup: parts, runs: parts });

/** @internal Writes what an experiment has; folders are kept relative to its own. */
export function writeRecord(folder: string, experiment: ExperimentRecord): void {
  writeWhole(join(folder, EXPERIMENT_FILE), `${JSON.stringify(experiment, null, 2)}\n`);
}

/** @internal The parts of an experiment that have begun. */
export function readRecord(folder: string): ExperimentRecord {
  const path = join(folder, EXPERIMENT_FILE);
  const begun = (list: readonly ExperimentRun[]) =>
    list
      .map((part) => ({ ...part, folder: join(folder, part.folder) }))
      .filter((part) => existsSync(join(part.folder, "metrics.jsonl")));
  try {
    const { name, setup, runs } = schema.parse(JSON.parse(readFileSync(path, "utf8")));
    return { name, setup: begun(setup), runs: begun(runs) };
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: ${(cause as Error).message}`, { cause });
  }
}

const DONE_FILE = "done.json";

/** @internal What a finished part leaves: its config, and what it gave. */
export interface Done {
  readonly config: unknown;
  /** Folder of the trained model. */
  readonly model: string;
}

/** @internal Marks a part of an experiment as finished. */
export function writeDone(folder: string, done: Done): void {
  writeWhole(join(folder, DONE_FILE), `${JSON.stringify(done, null, 2)}\n`);
}

/**
 * @internal What a part left when it finished; undefined when it has not.
 *
 * @throws {@link InputError} `ERR_INPUT` when it was done with another config
 */
export function readDone(folder: string, config: unknown): Done | undefined {
  const path = join(folder, DONE_FILE);
  if (!existsSync(path)) return undefined;
  let done: Done;
  try {
    done = z.object({ config: z.unknown(), model: z.string() }).parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: ${(cause as Error).message}`, { cause });
  }
  const difference = firstDifference(done.config, JSON.parse(JSON.stringify(config)));
  if (difference === undefined) return done;
  const { key, before, after } = difference;
  throw new InputError(
    "ERR_INPUT",
    `${path}: was done with another config: ${key} was ${JSON.stringify(before)}, is ${JSON.stringify(after)}; remove ${folder} to do it again, or choose another folder`,
  );
}
