import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { InputError } from "../../errors.ts";
import { writeWhole } from "../../prm/files/resume.ts";
import { firstDifference } from "../run/difference.ts";

/** @internal In the folder of an experiment: what belongs to it. */
export const EXPERIMENT_FILE = "experiment.json";

/** A run of an experiment. */
export interface ExperimentRun {
  /** Name of the setting. */
  readonly label: string;
  readonly seed: number;
  readonly folder: string;
}

const schema = z.object({
  name: z.string(),
  runs: z.array(z.object({ label: z.string(), seed: z.int(), folder: z.string() })),
});

/** @internal Writes which runs an experiment has; their folders are kept relative to its own. */
export function writeRuns(
  folder: string,
  experiment: { readonly name: string; readonly runs: readonly ExperimentRun[] },
): void {
  writeWhole(join(folder, EXPERIMENT_FILE), `${JSON.stringify(experiment, null, 2)}\n`);
}

/** @internal The runs of an experiment that have begun. */
export function readRuns(folder: string): { name: string; runs: ExperimentRun[] } {
  const path = join(folder, EXPERIMENT_FILE);
  try {
    const { name, runs } = schema.parse(JSON.parse(readFileSync(path, "utf8")));
    const placed = runs.map((run) => ({ ...run, folder: join(folder, run.folder) }));
    return { name, runs: placed.filter((run) => existsSync(join(run.folder, "metrics.jsonl"))) };
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
