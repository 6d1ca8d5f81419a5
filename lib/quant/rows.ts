import { NumericError } from "../errors.ts";
import { runJob } from "../job.ts";
import { addon } from "../load.ts";
import { TENSOR_TYPES, type TensorType } from "../tensor.ts";

/** @internal Bits of a block-wise quantised weight. */
export type Bits = 4 | 8;

/** @internal Bits of each quantisation by its name. */
export const BITS = { int8: 8, int4: 4 } as const;

/** @internal Neighbours of a row that share a scale. */
export const BLOCK = 32;

/** @internal Rows of a stored weight, as bytes. */
export interface StoredRows {
  readonly type: Exclude<TensorType, "float64">;
  /** `rows x columns` elements, little-endian; starts at a multiple of the element's size. */
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly columns: number;
  /** What messages call the weight. */
  readonly name: string;
  /** Number of the first row within the weight, for messages. */
  readonly firstRow: number;
}

/** @internal What {@link quantizeRows} writes. */
export interface QuantizedRows {
  /** `[rows, blocks, BLOCK bits / 8]`, the lower half of a byte first. */
  readonly packed: Uint8Array<ArrayBuffer>;
  /** `[rows, blocks]` */
  readonly scales: Float32Array<ArrayBuffer>;
}

/** @internal Room for quantised rows, in `memory` if given. */
export function roomFor(rows: number, columns: number, bits: Bits, memory?: ArrayBuffer): QuantizedRows {
  const blocks = rows * Math.ceil(columns / BLOCK);
  const packedBytes = (blocks * BLOCK * bits) / 8;
  const buffer = memory ?? new ArrayBuffer(4 * blocks + packedBytes);
  return {
    scales: new Float32Array(buffer, 0, blocks),
    packed: new Uint8Array(buffer, 4 * blocks, packedBytes),
  };
}

/**
 * @internal Quantises rows block by block: `x ~ scale (q - 2^(bits - 1))` with `q` in `[0, 2^bits)`. The scale maps the
 * value of largest magnitude, with its sign, to the end of the range that reaches further (`q = 0`); of two such values
 * with opposite signs, the negative one. Quotients are rounded in float32, to nearest, ties to even, so the error is at
 * most half a scale, and one scale at the other end of the range. A block of zeros has scale 0. Inputs that the last
 * block of a row lacks hold the middle of the range. Runs on the native pool; same bits for every number of threads
 * and every instruction set.
 *
 * @throws NumericError `ERR_NOT_FINITE` for a weight that is NaN or infinite, naming row and column
 */
export async function quantizeRows(
  { type, bytes, rows, columns, name, firstRow }: StoredRows,
  bits: Bits,
  { packed, scales }: QuantizedRows,
  signal?: AbortSignal,
): Promise<void> {
  const { buffer, byteOffset, byteLength } = bytes;
  const data =
    type === "float32"
      ? new Float32Array(buffer, byteOffset, byteLength / 4)
      : new Uint16Array(buffer, byteOffset, byteLength / 2);
  const element = TENSOR_TYPES.indexOf(type);
  const bad = await runJob(signal, () =>
    addon().quant.quantizeRows(data, element, rows, columns, bits, packed, scales),
  );
  if (bad >= 0) {
    throw new NumericError(
      "ERR_NOT_FINITE",
      `${name}: expected finite weights, found NaN or infinity in row ${firstRow + Math.floor(bad / columns)}, column ${bad % columns}`,
    );
  }
}
