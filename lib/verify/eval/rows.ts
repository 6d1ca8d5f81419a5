import { readFile } from "node:fs/promises";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Compressors } from "hyparquet";
import { InputError } from "../../errors.ts";
import { readRows } from "../../files/lines.ts";
import { describe } from "../../validate.ts";

/** @internal A row of a file, nothing about it known. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * @internal The rows of a parquet, JSON or JSONL file, in their order.
 *
 * @throws {@link InputError} `ERR_INPUT` naming the file, and the line or row, for a file that cannot be read or holds
 * anything but objects
 */
export async function readDataRows(path: string): Promise<Row[]> {
  const rows: unknown[] = /\.parquet$/i.test(path) ? await readParquet(path) : await readRows(path);
  if (rows.length === 0) throw new InputError("ERR_INPUT", `${path}: has no rows`);
  rows.forEach((row, i) => {
    if (row === null || typeof row !== "object" || Array.isArray(row))
      throw new InputError("ERR_INPUT", `${path}: row ${i + 1}: expected an object, got ${describe(row)}`);
  });
  return rows as Row[];
}

// What the reader does not decompress itself and Node does.
const compressors: Compressors = {
  GZIP: (input) => gunzipSync(input),
  BROTLI: (input) => brotliDecompressSync(input),
};

async function readParquet(path: string): Promise<unknown[]> {
  const { parquetReadObjects } = await import("hyparquet");
  try {
    const { buffer, byteOffset, byteLength } = await readFile(path);
    const file = (buffer as ArrayBuffer).slice(byteOffset, byteOffset + byteLength);
    return await parquetReadObjects({ file, compressors });
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: cannot be read as parquet: ${(cause as Error).message}`, {
      cause,
    });
  }
}
