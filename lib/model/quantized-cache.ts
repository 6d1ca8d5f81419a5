import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Checkpoint } from "./checkpoint.ts";
import type { Decoder } from "./decoder.ts";
import { BLOCK, type Bits, quantizeRows } from "./quantize.ts";
import { readSafetensorsHeader, readTensorBytes, type TensorEntry } from "./safetensors.ts";
import { isWeightType, toFloat32 } from "./weights.ts";

/** @internal A quantised weight in the cache. */
export interface QuantizedWeight {
  readonly bits: Bits;
  readonly packed: TensorEntry;
  readonly scales: TensorEntry;
}

// Raised when the arithmetic or the layout changes, so that old files are not taken for new ones.
const VERSION = 1;
const CHUNK = 1 << 22;

/**
 * @internal The layers' weights, quantised: from the cache, or quantised now and written there. One file per
 * checkpoint (paths, sizes and times of its files) and number of bits, in `MINFORM_CACHE` or `~/.cache/minform`.
 */
export async function quantizedWeights(
  { tensors, path }: Checkpoint,
  decoder: Decoder,
  bits: Bits,
): Promise<ReadonlyMap<TensorEntry, QuantizedWeight>> {
  const names = new Map([...tensors].map(([name, entry]) => [entry, name]));
  const weights = decoder.layers.flatMap(({ q, k, v, o, gate, up, down }) =>
    [q, k, v, o, gate, up, down].map(({ weight }) => ({ weight, name: names.get(weight)! })),
  );
  const file = await cacheFile(
    weights.map(({ weight }) => weight),
    bits,
  );
  const stored = (await readCached(file)) ?? (await write(file, weights, bits, path));
  return new Map(
    weights.map(({ weight, name }) => {
      const [packed, scales] = [stored.get(name)!, stored.get(`${name}.scales`)!];
      return [weight, { bits, packed, scales }];
    }),
  );
}

async function cacheFile(weights: readonly TensorEntry[], bits: Bits): Promise<string> {
  const { MINFORM_CACHE, XDG_CACHE_HOME } = process.env;
  const folder = MINFORM_CACHE || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "minform");
  const hash = createHash("sha256").update(`${VERSION} ${bits} ${BLOCK}`);
  for (const file of [...new Set(weights.map((weight) => weight.file))].sort()) {
    const { size, mtimeMs } = await stat(file);
    hash.update(`\0${file}\0${size}\0${mtimeMs}`);
  }
  return join(folder, "quantized", `${hash.digest("hex").slice(0, 32)}-int${bits}.safetensors`);
}

// A file is renamed into place when it is whole, so one that reads well is one to use.
const readCached = (file: string): Promise<Map<string, TensorEntry> | undefined> =>
  readSafetensorsHeader(file).catch(() => undefined);

async function write(
  file: string,
  weights: readonly { weight: TensorEntry; name: string }[],
  bits: Bits,
  source: string,
): Promise<Map<string, TensorEntry>> {
  const header: Record<string, unknown> = {
    __metadata__: { source, bits: String(bits), block: String(BLOCK) },
  };
  let offset = 0;
  const region = (name: string, dtype: string, shape: number[], length: number) => {
    header[name] = { dtype, shape, data_offsets: [offset, offset + length] };
    offset += length;
  };
  for (const { weight, name } of weights) {
    const [rows, width] = weight.shape as [number, number];
    const blocks = Math.ceil(width / BLOCK);
    region(name, "U8", [rows, blocks, (BLOCK * bits) / 8], (rows * blocks * BLOCK * bits) / 8);
    region(`${name}.scales`, "F32", [rows, blocks], rows * blocks * 4);
  }
  const text = Buffer.from(JSON.stringify(header));
  const start = Buffer.alloc(8 + text.length);
  start.writeBigUInt64LE(BigInt(text.length));
  text.copy(start, 8);
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const handle = await open(temporary, "wx");
  try {
    await handle.write(start, 0, start.length, 0);
    let at = start.length;
    for (const { weight } of weights) at = await writeWeight(handle, at, weight, bits);
    await handle.sync();
    await handle.close();
    await rename(temporary, file);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
  return readSafetensorsHeader(file);
}

// A few rows at a time: neither a whole weight nor its float32 form is ever in memory.
async function writeWeight(handle: FileHandle, at: number, weight: TensorEntry, bits: Bits): Promise<number> {
  const [rows, width] = weight.shape as [number, number];
  const blocks = Math.ceil(width / BLOCK);
  const stride = weight.length / rows;
  const packedStride = (blocks * BLOCK * bits) / 8;
  const step = Math.max(1, Math.floor(CHUNK / width));
  if (!isWeightType(weight.type)) throw new TypeError(`${weight.file}: ${weight.type}`);
  for (let from = 0; from < rows; from += step) {
    const count = Math.min(step, rows - from);
    const bytes = await readTensorBytes(weight, from * stride, count * stride);
    const { packed, scales } = quantizeRows(toFloat32(bytes, weight.type), width, bits);
    await handle.write(packed, 0, packed.length, at + from * packedStride);
    const raw = new Uint8Array(scales.buffer);
    await handle.write(raw, 0, raw.length, at + rows * packedStride + from * blocks * 4);
  }
  return at + rows * packedStride + rows * blocks * 4;
}
