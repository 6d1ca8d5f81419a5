import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InputError } from "../errors.ts";
import { BLOCK, type Bits, quantizeRows, roomFor } from "../quant/rows.ts";
import { readTensorInto, type TensorEntry, type WeightType } from "./safetensors.ts";

/** How far the quantisation of a checkpoint is. */
export interface QuantizeProgress {
  /** Bytes of weights done, >= 0. */
  readonly done: number;
  /** Bytes of weights in all. */
  readonly total: number;
}

/** @internal Options of quantising a checkpoint. */
export interface QuantizeOptions {
  onProgress?: ((progress: QuantizeProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** @internal A weight to quantise. */
export interface Source {
  readonly name: string;
  readonly weight: TensorEntry;
}

/** @internal A tensor of a quantised file. */
export interface Region {
  readonly name: string;
  readonly type: "U8" | "float32";
  readonly shape: readonly number[];
  readonly length: number;
}

/** @internal The two tensors that a weight becomes: packed values `[rows, blocks, bytes]` and scales `[rows, blocks]`. */
export function regionsOf({ name, weight }: Source, bits: Bits): [packed: Region, scales: Region] {
  const [rows, width] = weight.shape as [number, number];
  const blocks = Math.ceil(width / BLOCK);
  const bytes = (BLOCK * bits) / 8;
  return [
    { name, type: "U8", shape: [rows, blocks, bytes], length: rows * blocks * bytes },
    { name: `${name}.scales`, type: "float32", shape: [rows, blocks], length: rows * blocks * 4 },
  ];
}

/**
 * @internal Quantises weights into a safetensors file. It appears whole, under its name, when it is on the disk:
 * several processes may write the same file at once, and one that is killed leaves only a temporary file, which a later
 * one removes.
 *
 * @throws InputError `ERR_INPUT` when the folder cannot be written or a weight cannot be read; NumericError
 * `ERR_NOT_FINITE` for a weight that is not finite; the signal's reason
 */
export async function writeQuantized(
  file: string,
  sources: readonly Source[],
  bits: Bits,
  checkpoint: string,
  options: QuantizeOptions,
): Promise<void> {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const handle = await writing(file, async () => {
    await mkdir(dirname(file), { recursive: true });
    await removeAbandoned(file);
    return open(temporary, "wx");
  });
  try {
    await fill(handle, file, sources, bits, checkpoint, options);
    await writing(file, async () => {
      await handle.sync();
      await handle.close();
      await rename(temporary, file);
    });
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
}

async function fill(
  handle: FileHandle,
  file: string,
  sources: readonly Source[],
  bits: Bits,
  checkpoint: string,
  { onProgress, signal }: QuantizeOptions,
): Promise<void> {
  const { start, offsets } = layOut(sources, bits, checkpoint);
  await writing(file, () => writeAll(handle, start, 0));
  const total = sources.reduce((sum, { weight }) => sum + weight.length, 0);
  let done = 0;
  onProgress?.({ done, total });
  const parts = sources.flatMap(partsOf);
  const memory = new ArrayBuffer(Math.max(...parts.map((part) => outputBytes(part, bits))));
  for await (const [part, bytes] of readAhead(parts)) {
    const { source, firstRow, rows } = part;
    const columns = source.weight.shape[1]!;
    const out = roomFor(rows, columns, bits, memory);
    const name = `${source.weight.file}: tensor ${source.name}`;
    const stored = { type: source.weight.type as WeightType, bytes, rows, columns, name, firstRow };
    await quantizeRows(stored, bits, out, signal);
    const [packedAt, scalesAt] = offsets.get(source)!;
    await writing(file, async () => {
      await writeAll(handle, out.packed, packedAt + (firstRow * out.packed.byteLength) / rows);
      const scales = new Uint8Array(out.scales.buffer, out.scales.byteOffset, out.scales.byteLength);
      await writeAll(handle, scales, scalesAt + (firstRow * scales.byteLength) / rows);
    });
    done += bytes.byteLength;
    onProgress?.({ done, total });
  }
}

/** The file up to its first tensor, and where the two tensors of each weight begin. */
function layOut(
  sources: readonly Source[],
  bits: Bits,
  checkpoint: string,
): { start: Uint8Array; offsets: Map<Source, [packed: number, scales: number]> } {
  const header: Record<string, unknown> = {
    __metadata__: { source: checkpoint, bits: String(bits), block: String(BLOCK) },
  };
  let end = 0;
  const relative = sources.map((source) =>
    regionsOf(source, bits).map(({ name, type, shape, length }) => {
      const begin = end;
      end += length;
      header[name] = { dtype: type === "U8" ? "U8" : "F32", shape, data_offsets: [begin, end] };
      return begin;
    }),
  );
  const text = Buffer.from(JSON.stringify(header));
  const start = Buffer.alloc(8 + text.length);
  start.writeBigUInt64LE(BigInt(text.length));
  text.copy(start, 8);
  const absolute = relative.map((pair) => pair.map((begin) => start.length + begin) as [number, number]);
  return { start, offsets: new Map(sources.map((source, i) => [source, absolute[i]!])) };
}

interface Part {
  readonly source: Source;
  readonly firstRow: number;
  readonly rows: number;
}

// Weights of a part: neither a whole weight nor its float32 form is ever in memory.
const PART = 1 << 21;

function partsOf(source: Source): Part[] {
  const [rows, columns] = source.weight.shape as [number, number];
  const step = Math.max(1, Math.floor(PART / columns));
  return Array.from({ length: Math.ceil(rows / step) }, (_, i) => {
    const firstRow = i * step;
    return { source, firstRow, rows: Math.min(step, rows - firstRow) };
  });
}

const rowBytes = ({ weight }: Source): number => weight.length / weight.shape[0]!;

function outputBytes({ source, rows }: Part, bits: Bits): number {
  return (
    (regionsOf(source, bits).reduce((sum, { length }) => sum + length, 0) * rows) / source.weight.shape[0]!
  );
}

// The bytes of each part; while one is worked on, the next is read. Memory is used again and again: fresh pages would
// cost more time than the arithmetic.
async function* readAhead(parts: readonly Part[]): AsyncGenerator<[part: Part, bytes: Uint8Array]> {
  const largest = Math.max(...parts.map(({ source, rows }) => rows * rowBytes(source)));
  const memory = [new ArrayBuffer(largest), new ArrayBuffer(largest)];
  const read = async (i: number): Promise<Uint8Array> => {
    const { source, firstRow, rows } = parts[i]!;
    const stride = rowBytes(source);
    const bytes = new Uint8Array(memory[i % 2]!, 0, rows * stride);
    await readTensorInto(source.weight, firstRow * stride, bytes);
    return bytes;
  };
  let next = read(0);
  for (const [i, part] of parts.entries()) {
    const bytes = await next;
    if (i + 1 < parts.length) next = read(i + 1);
    next.catch(() => undefined); // awaited in its turn, or never when something else fails before
    yield [part, bytes];
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

async function writing<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    throw new InputError(
      "ERR_INPUT",
      `${file}: the quantised weights cannot be written: ${(cause as Error).message}; MINFORM_CACHE says where they go`,
      { cause },
    );
  }
}

// A process that writes touches its temporary file all the time; one that has not for an hour is gone.
const ABANDONED_MS = 3_600_000;

async function removeAbandoned(file: string): Promise<void> {
  const folder = dirname(file);
  for (const name of await readdir(folder)) {
    if (!/\.safetensors\.\d+\.[0-9a-f]{8}$/.test(name)) continue;
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > ABANDONED_MS) await rm(join(folder, name), { force: true });
  }
}
