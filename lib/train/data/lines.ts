import { InputError } from "../../errors.ts";
import { inputName, openInput, parseRow, textLines } from "../../files/lines.ts";
import { readDataRows } from "../../verify/eval/rows.ts";

/** @internal A row of a file and where it stands, for messages. */
export interface PlacedRow {
  readonly row: Readonly<Record<string, unknown>>;
  /** `file:line`, or `file: row n` of files without lines. */
  readonly where: string;
}

/**
 * @internal The rows of a JSONL, JSON or parquet file.
 *
 * @throws {@link InputError} `ERR_INPUT` naming file and line for a file that cannot be read, has no rows, or a line that
 * is no JSON object
 */
export async function readPlacedRows(path: string): Promise<PlacedRow[]> {
  if (!/\.(jsonl|ndjson)$/i.test(path))
    return (await readDataRows(path)).map((row, i) => ({ row, where: `${path}: row ${i + 1}` }));
  const rows: PlacedRow[] = [];
  for await (const line of textLines(openInput(path), inputName(path))) {
    if (line.text.trim() === "") continue;
    const where = `${path}:${line.number}`;
    rows.push({ row: at(where, () => parseRow(line)), where });
  }
  if (rows.length === 0) throw new InputError("ERR_INPUT", `${path}: has no rows`);
  return rows;
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
