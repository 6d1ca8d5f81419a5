import { InputError } from "../../errors.ts";
import { readJsonRows } from "../../files/lines.ts";
import { isParquet, readDataRows } from "../../verify/eval/rows.ts";

/** @internal A row of a file and where it stands, for messages. */
export interface PlacedRow {
  readonly row: Readonly<Record<string, unknown>>;
  /** `file:line`, or `file: row n` of an array or a file without lines. */
  readonly where: string;
}

/**
 * @internal The rows of a JSONL, JSON or parquet file.
 *
 * @throws {@link InputError} `ERR_INPUT` naming file and line for a file that cannot be read, has no rows, or a line that
 * is no JSON object; {@link readJsonRows} says what may be in a JSON file
 */
export async function readPlacedRows(path: string): Promise<PlacedRow[]> {
  const rows = isParquet(path)
    ? (await readDataRows(path)).map((row) => ({ row, line: undefined }))
    : await readJsonRows(path);
  if (rows.length === 0) throw new InputError("ERR_INPUT", `${path}: has no rows`);
  return rows.map(({ row, line }, i) => ({
    row,
    where: line === undefined ? `${path}: row ${i + 1}` : `${path}:${line}`,
  }));
}

/** @internal Runs `read` and puts the place before what it throws. */
export function at<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${where}: ${(cause as Error).message}`, { cause });
  }
}

/** @internal The value at a key of a row; dots go into objects. */
export function valueAt(row: Readonly<Record<string, unknown>>, key: string): unknown {
  if (Object.hasOwn(row, key)) return row[key];
  let value: unknown = row;
  for (const part of key.split(".")) {
    if (value === null || typeof value !== "object") return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

/** @internal The first of some keys that a row has. */
export function firstOf(row: Readonly<Record<string, unknown>>, keys: readonly string[]): unknown {
  for (const key of keys) {
    const value = valueAt(row, key);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** @internal Text, or an error that names the keys. */
export function textOf(value: unknown, keys: readonly string[]): string {
  if (typeof value === "string") return value;
  const got = value === undefined ? "nothing" : Array.isArray(value) ? "a list" : typeof value;
  throw new InputError("ERR_INPUT", `expected text at ${keys.join(" or ")}, got ${got}`);
}
