import { readFile } from "node:fs/promises";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Compressors } from "hyparquet";
import { InputError } from "../../errors.ts";
import { readRows } from "../../files/lines.ts";

/** @internal A row of a file, nothing about it known. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * @internal The rows of a parquet, JSON or JSONL file, in their order.
 *
 * @throws {@link InputError} `ERR_INPUT` naming the file, and the line or row, for a file that cannot be read or holds
 * anything but objects
 */
export async function readDataRows(path: string): Promise<Row[]> {
  const rows = isParquet(path) ? await readParquet(path) : await readRows(path);
  if (rows.length === 0) throw new InputError("ERR_INPUT", `${path}: has no rows`);
  return rows;
}

/** @internal Whether a file is read as parquet. */
export function isParquet(path: string): boolean {
  return /\.parquet$/i.test(path);
}

// What the reader does not decompress itself and Node does.
const compressors: Compressors = {
  GZIP: (input) => gunzipSync(input),
  BROTLI: (input) => brotliDecompressSync(input),
};

async function readParquet(path: string): Promise<Row[]> {
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
