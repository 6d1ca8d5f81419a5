import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InputError } from "../errors.ts";
import { BLOCK, type Bits, quantizeRows } from "../quant/rows.ts";
import { readTensorBytes, type TensorEntry, type WeightType } from "./safetensors.ts";

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
  for await (const [part, bytes] of readAhead(sources.flatMap(partsOf))) {
    const { source, firstRow, rows } = part;
    const { packed, scales } = await quantizeRows(
      {
        type: source.weight.type as WeightType,
        bytes,
        columns: source.weight.shape[1]!,
        name: `${source.weight.file}: tensor ${source.name}`,
        firstRow,
      },
      bits,
      signal,
    );
    const [packedAt, scalesAt] = offsets.get(source)!;
    await writing(file, async () => {
      await writeAll(handle, packed, packedAt + (firstRow * packed.byteLength) / rows);
      const raw = new Uint8Array(scales.buffer);
      await writeAll(handle, raw, scalesAt + (firstRow * raw.byteLength) / rows);
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
const PART = 1 << 22;

function partsOf(source: Source): Part[] {
  const [rows, columns] = source.weight.shape as [number, number];
  const step = Math.max(1, Math.floor(PART / columns));
  return Array.from({ length: Math.ceil(rows / step) }, (_, i) => {
    const firstRow = i * step;
    return { source, firstRow, rows: Math.min(step, rows - firstRow) };
  });
}

// The bytes of each part; while one is worked on, the next is read.
async function* readAhead(parts: readonly Part[]): AsyncGenerator<[part: Part, bytes: Uint8Array]> {
  const read = (part: Part | undefined): Promise<Uint8Array> | undefined => {
    if (part === undefined) return undefined;
    const { weight } = part.source;
    const stride = weight.length / weight.shape[0]!;
    const bytes = readTensorBytes(weight, part.firstRow * stride, part.rows * stride);
    bytes.catch(() => undefined); // awaited in its turn, or never when something else fails before
    return bytes;
  };
  let next = read(parts[0]);
  for (const [i, part] of parts.entries()) {
    const bytes = await next!;
    next = read(parts[i + 1]);
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
