import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import * as z from "zod";
import { InputError } from "../../errors.ts";
import { writeWhole } from "../../atomic-file.ts";
import { type Difference, firstDifference } from "../run/difference.ts";

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

/** @internal What a part left when it finished; undefined when it has not. */
export function readDone(folder: string): Done | undefined {
  const path = join(folder, DONE_FILE);
  if (!existsSync(path)) return undefined;
  return z.object({ config: z.unknown(), model: z.string() }).parse(readJson(path));
}

/** @internal A part as its folder is to hold it. */
export interface RecordedPart {
  readonly folder: string;
  /** As it is handed to what trains. */
  readonly config: object;
  /** With every default filled in, as the run's folder has it. */
  readonly resolved: object;
}

const MOST_NAMED = 10;

/**
 * @internal Asserts that no part has finished or begun with another config.
 *
 * @throws {@link InputError} `ERR_INPUT` naming every folder that has, and the first key
 */
export function assertSameConfigs(folder: string, parts: readonly RecordedPart[]): void {
  const changed = parts.flatMap((part) => {
    const difference = changeOf(part);
    return difference === undefined ? [] : [{ at: relative(folder, part.folder), ...difference }];
  });
  const [first] = changed;
  if (first === undefined) return;
  const more = changed.length > MOST_NAMED ? ` and ${changed.length - MOST_NAMED} more` : "";
  const names = changed.slice(0, MOST_NAMED).map(({ at }) => at);
  throw new InputError(
    "ERR_INPUT",
    `${folder}: ${changed.length === 1 ? "a part was" : `${changed.length} parts were`} begun with another config: ` +
      `${names.join(", ")}${more}; in ${first.at} ${first.key} was ${JSON.stringify(first.before)}, ` +
      `is ${JSON.stringify(first.after)}; remove ${changed.length === 1 ? "its folder" : "their folders"} ` +
      "to do it again, or choose another folder",
  );
}

function changeOf({ folder, config, resolved }: RecordedPart): Difference | undefined {
  const done = readDone(folder);
  if (done !== undefined) return firstDifference(done.config, JSON.parse(JSON.stringify(config)));
  const begun = join(folder, "config.json");
  if (!existsSync(begun)) return undefined;
  return firstDifference(readJson(begun), JSON.parse(JSON.stringify(resolved)));
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: no JSON: ${(cause as Error).message}`, { cause });
  }
}
