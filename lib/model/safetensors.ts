import { type FileHandle, open } from "node:fs/promises";
import { InputError } from "../errors.ts";

/** Element types of stored weights that this library reads. */
export type WeightType = "bfloat16" | "float16" | "float32";

/** Where one tensor lies. */
export interface TensorEntry {
  /** Absolute path of the file, links resolved. */
  readonly file: string;
  /** Element type, or the format's own name (`I64`, `F8_E4M3`, ...) of a type that cannot be used as a weight. */
  readonly type: WeightType | (string & {});
  /** Sizes, outermost first. */
  readonly shape: readonly number[];
  /** First byte inside the file. */
  readonly offset: number;
  /** Number of bytes. */
  readonly length: number;
}

const BITS: Record<string, number> = {
  BOOL: 8,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  F64: 64,
  I64: 64,
  U64: 64,
};

const WEIGHTS: Record<string, WeightType> = { BF16: "bfloat16", F16: "float16", F32: "float32" };

// The bound of the reference reader: a longer header is a broken or hostile file.
const MAX_HEADER = 100_000_000;

/**
 * Reads the header of a safetensors file and checks it against the file: sizes, dtypes, shapes, and that the tensors
 * lie one after the other without gap or overlap and end where the file ends. No weight is read.
 *
 * @param file - path, used as it is
 * @returns the tensors by name
 * @throws {@link InputError} `ERR_INPUT` naming file and tensor
 */
export async function readSafetensorsHeader(file: string): Promise<Map<string, TensorEntry>> {
  let handle: FileHandle;
  try {
    handle = await open(file, "r");
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${file}: cannot be opened: ${(cause as Error).message}`, { cause });
  }
  try {
    const { size } = await handle.stat();
    const head = await readExactly(handle, file, 0, Buffer.alloc(8), size);
    const length = head.readBigUInt64LE(0);
    if (length > BigInt(MAX_HEADER) || Number(length) > size - 8) {
      throw broken(file, `states a header of ${length} bytes in a file of ${size} bytes`);
    }
    const start = 8 + Number(length);
    const text = (await readExactly(handle, file, 8, Buffer.alloc(Number(length)), size)).toString("utf8");
    return parseHeader(file, text, start, size);
  } finally {
    await handle.close();
  }
}

/**
 * Reads bytes of a tensor.
 *
 * @param entry - where it lies
 * @param from - first byte, counted inside the tensor
 * @param length - number of bytes
 * @throws {@link InputError} `ERR_INPUT` when the file has become shorter
 */
export async function readTensorBytes(
  entry: TensorEntry,
  from = 0,
  length: number = entry.length - from,
): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(length);
  await readTensorInto(entry, from, bytes);
  return bytes;
}

/** @internal Fills `bytes` with bytes of a tensor, from byte `from` of it on. */
export async function readTensorInto(entry: TensorEntry, from: number, bytes: Uint8Array): Promise<void> {
  const handle = await open(entry.file, "r");
  try {
    const { size } = await handle.stat();
    await readExactly(handle, entry.file, entry.offset + from, bytes, size);
  } finally {
    await handle.close();
  }
}

async function readExactly<T extends Uint8Array>(
  handle: FileHandle,
  file: string,
  position: number,
  bytes: T,
  size: number,
): Promise<T> {
  const { length } = bytes;
  if (position + length > size) {
    throw broken(file, `ends at byte ${size}, expected at least ${position + length}`);
  }
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, position + done);
    if (bytesRead === 0)
      throw broken(file, `ends at byte ${position + done}, expected at least ${position + length}`);
    done += bytesRead;
  }
  return bytes;
}

function parseHeader(file: string, text: string, start: number, size: number): Map<string, TensorEntry> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${file}: the safetensors header is not JSON`, { cause });
  }
  if (json === null || typeof json !== "object" || Array.isArray(json)) {
    throw broken(file, "has a header that is not an object");
  }
  const tensors = Object.entries(json)
    .filter(([name]) => name !== "__metadata__")
    .map(([name, raw]) => ({ name, ...parseTensor(file, name, raw) }))
    .sort((a, b) => a.begin - b.begin || a.end - b.end);
  let end = 0;
  for (const tensor of tensors) {
    if (tensor.begin !== end) {
      const kind = tensor.begin < end ? "overlaps the one before it" : "leaves a gap before it";
      throw broken(file, `tensor ${tensor.name} ${kind}: expected offset ${end}, got ${tensor.begin}`);
    }
    end = tensor.end;
    if (start + end > size) {
      throw broken(file, `tensor ${tensor.name} ends at byte ${start + end} of a file of ${size} bytes`);
    }
  }
  if (start + end !== size) {
    throw broken(file, `holds ${size - start} bytes of tensors, the header accounts for ${end}`);
  }
  return new Map(
    tensors.map(({ name, type, shape, begin, end }) => [
      name,
      { file, type, shape, offset: start + begin, length: end - begin },
    ]),
  );
}

function parseTensor(
  file: string,
  name: string,
  raw: unknown,
): { type: string; shape: number[]; begin: number; end: number } {
  const { dtype, shape, data_offsets: offsets } = (raw ?? {}) as Record<string, unknown>;
  const counts = (value: unknown): value is number[] =>
    Array.isArray(value) && value.every((n) => Number.isSafeInteger(n) && (n as number) >= 0);
  if (typeof dtype !== "string" || !counts(shape) || !counts(offsets) || offsets.length !== 2) {
    throw broken(file, `tensor ${name}: expected dtype, shape and two data_offsets`);
  }
  const bits = BITS[dtype];
  if (bits === undefined) throw broken(file, `tensor ${name}: unknown dtype ${dtype}`);
  const [begin, end] = offsets as [number, number];
  const bytes = (shape.reduce((product, n) => product * n, 1) * bits) / 8;
  if (!Number.isSafeInteger(bytes) || end - begin !== bytes) {
    throw broken(
      file,
      `tensor ${name}: ${dtype} [${shape}] takes ${bytes} bytes, its offsets span ${end - begin}`,
    );
  }
  return { type: WEIGHTS[dtype] ?? dtype, shape, begin, end };
}

function broken(file: string, message: string): InputError {
  return new InputError("ERR_INPUT", `${file}: ${message}`);
}
