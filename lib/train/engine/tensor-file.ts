import { writeWhole } from "../../atomic-file.ts";
import { InputError } from "../../errors.ts";
import { readSafetensorsHeader, readTensorBytes } from "../../model/safetensors.ts";

/** @internal A float32 tensor of a file. */
export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** @internal Writes a safetensors file, which appears whole or not at all. */
export function writeTensors(path: string, tensors: Iterable<NamedTensor>): void {
  const header: Record<string, unknown> = { __metadata__: { format: "pt" } };
  const parts: Uint8Array[] = [];
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    header[name] = { dtype: "F32", shape, data_offsets: [offset, offset + data.byteLength] };
    parts.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    offset += data.byteLength;
  }
  const json = JSON.stringify(header);
  const text = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8)); // tensors start aligned
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeWhole(path, length, text, ...parts);
}

/**
 * @internal Fills tensors from a safetensors file that {@link writeTensors} wrote.
 *
 * @throws {@link InputError} `ERR_INPUT` naming a tensor that is missing, or of another type or size
 */
export async function readTensors(path: string, tensors: Iterable<NamedTensor>): Promise<void> {
  const entries = await readSafetensorsHeader(path);
  for (const { name, shape, data } of tensors) {
    const entry = entries.get(name);
    const wanted = `${path}: expected tensor ${name} in float32, of sizes [${shape}]`;
    if (entry === undefined) throw new InputError("ERR_INPUT", `${wanted}, found none`);
    if (entry.type !== "float32" || `${entry.shape}` !== `${shape}`)
      throw new InputError("ERR_INPUT", `${wanted}, found ${entry.type} [${entry.shape}]`);
    const bytes = await readTensorBytes(entry);
    new Uint8Array(data.buffer, data.byteOffset, data.byteLength).set(bytes);
  }
}
