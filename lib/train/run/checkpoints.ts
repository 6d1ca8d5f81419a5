import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { InputError } from "../../errors.ts";
import { writeWhole } from "../../atomic-file.ts";

/** @internal What latest.json holds. */
export interface CheckpointRecord {
  readonly step: number;
  /** Relative to the run's folder. */
  readonly folder: string;
  readonly state: unknown;
  readonly seconds: number;
  /** Lengths of the run's line files. */
  readonly bytes: Readonly<Record<string, number>>;
}

const FOLDER = "checkpoints";
const LATEST = "latest.json";
const TEMPORARY = ".new";

/** @internal The record of the last whole checkpoint of a run. */
export function readLatest(run: string): CheckpointRecord | undefined {
  const path = join(run, LATEST);
  if (!existsSync(path)) return undefined;
  let record: CheckpointRecord;
  try {
    record = JSON.parse(readFileSync(path, "utf8")) as CheckpointRecord;
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: no JSON: ${(cause as Error).message}`, { cause });
  }
  const isWhole =
    Number.isSafeInteger(record?.step) &&
    typeof record.folder === "string" &&
    typeof record.bytes === "object";
  if (!isWhole || !existsSync(join(run, record.folder)))
    throw new InputError("ERR_INPUT", `${path}: expected a checkpoint and its folder, got ${record?.folder}`);
  return record;
}

/**
 * @internal Writes a checkpoint under a temporary name, brings it to the disk, gives it its name, and only then points
 * latest.json to it. Until that last step, and after a failure anywhere, the checkpoint before is the last one.
 */
export async function writeCheckpoint(
  run: string,
  record: Omit<CheckpointRecord, "folder">,
  save: (folder: string) => Promise<void>,
  keep: number,
): Promise<void> {
  const name = `step-${String(record.step).padStart(6, "0")}`;
  const [temporary, final] = [join(run, FOLDER, TEMPORARY), join(run, FOLDER, name)];
  try {
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary, { recursive: true });
    await save(temporary);
    for (const file of readdirSync(temporary, { recursive: true, withFileTypes: true }))
      sync(join(file.parentPath, file.name));
    sync(temporary);
    rmSync(final, { recursive: true, force: true });
    renameSync(temporary, final);
    sync(join(run, FOLDER));
  } catch (cause) {
    rmSync(temporary, { recursive: true, force: true });
    if (!(cause instanceof Error && "syscall" in cause)) throw cause;
    throw new InputError("ERR_INPUT", `${final}: cannot be written: ${cause.message}`, { cause });
  }
  const pointer: CheckpointRecord = { ...record, folder: `${FOLDER}/${name}` };
  writeWhole(join(run, LATEST), `${JSON.stringify(pointer)}\n`);
  sync(run);
  prune(join(run, FOLDER), name, keep);
}

function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

// Names sort by step. Those after the newest are of a run that was cut back.
function prune(folder: string, newest: string, keep: number): void {
  const names = readdirSync(folder)
    .filter((name) => /^step-\d+$/.test(name))
    .sort();
  const last = names.indexOf(newest);
  for (const [i, name] of names.entries()) {
    if (i > last || i <= last - keep) rmSync(join(folder, name), { recursive: true, force: true });
  }
}
