import type { DeviceTensor } from "./cuda/tensor.ts";
import { ArgumentError } from "./errors.ts";
import { assertCount, assertOffsets, assertTypedArray, typeName } from "./validate.ts";

/** The element types of the primitives: float32 (float64 accumulation) or float64 throughout (reference mode). */
export type FloatArray = Float32Array | Float64Array;

/** Arrays that a {@link Ragged} can hold. */
export type RaggedData = FloatArray | Int32Array | Uint8Array;

/** Values in float32 or float64, in the host's memory or a GPU's: the function runs where they are. */
export type Values = FloatArray | FloatTensor;

/** Values on a GPU. */
export type FloatTensor = DeviceTensor<"float32"> | DeviceTensor<"float64">;

/** One value per element, 0 or 1. Beside values on a GPU it may be on either side. */
export type Mask = Uint8Array | DeviceTensor<"uint8">;

/** `T` over memory of its own, as the library returns it. */
export type Owned<T extends RaggedData | DeviceTensor> =
  T extends DeviceTensor<infer K>
    ? DeviceTensor<K>
    : T extends Float32Array
      ? Float32Array<ArrayBuffer>
      : T extends Float64Array
        ? Float64Array<ArrayBuffer>
        : T extends Int32Array
          ? Int32Array<ArrayBuffer>
          : Uint8Array<ArrayBuffer>;

/**
 * A batch of rows of different lengths: row `i` is `data[offsets[i] .. offsets[i + 1])`. `offsets` has one entry more
 * than there are rows, starts at 0, never falls and ends at `data.length` (the layout of `cu_seqlens`). A row is a
 * response; its elements are tokens or steps. There is no padding anywhere inside the library. On a GPU `data` is a
 * {@link DeviceTensor}; `offsets` stay on the host.
 */
export interface Ragged<T extends RaggedData | DeviceTensor = FloatArray> {
  /** The elements of all rows, row after row. */
  readonly data: T;
  /** Where the rows begin and end in `data`. */
  readonly offsets: Int32Array;
}

/** Names of the element types that {@link ragged} builds, and the arrays they give. */
export interface RaggedTypes {
  /** Values in single precision. */
  float32: Float32Array<ArrayBuffer>;
  /** Values in double precision. */
  float64: Float64Array<ArrayBuffer>;
  /** Token ids and indices. */
  int32: Int32Array<ArrayBuffer>;
  /** Masks. */
  uint8: Uint8Array<ArrayBuffer>;
}

const constructors: { [K in keyof RaggedTypes]: new (length: number) => RaggedTypes[K] } = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
};

/**
 * Builds a {@link Ragged} from rows of numbers.
 *
 * @param rows - one array of numbers per response; rows may be empty
 * @param type - element type of the result, default `"float64"`
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE` when a row is not array-like, `ERR_SHAPE` when the elements exceed
 * 2^31 - 1
 */
export function ragged<K extends keyof RaggedTypes = "float64">(
  rows: ArrayLike<ArrayLike<number>>,
  type: K = "float64" as K,
): Ragged<RaggedTypes[K]> {
  if (constructors[type] === undefined) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `type: expected one of ${Object.keys(constructors).join(", ")}, got ${String(type)}`,
    );
  }
  const offsets = raggedOffsets(Array.from(rows, (row, i) => rowLength(row, i)));
  const data = new constructors[type](offsets[rows.length]!);
  for (let i = 0; i < rows.length; i++) data.set(rows[i]!, offsets[i]!);
  return { data, offsets };
}

function rowLength(row: ArrayLike<number>, index: number): number {
  if (row === null || typeof row !== "object" || typeof row.length !== "number") {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `rows[${index}]: expected an array of numbers, got ${typeName(row)}`,
    );
  }
  return row.length;
}

/**
 * Offsets of rows of the given lengths.
 *
 * @param lengths - elements per row, integers >= 0
 * @returns `lengths.length + 1` offsets
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE` for a length that is not a count, `ERR_SHAPE` past 2^31 - 1 elements
 */
export function raggedOffsets(lengths: ArrayLike<number>): Int32Array<ArrayBuffer> {
  const offsets = new Int32Array(lengths.length + 1);
  let total = 0;
  for (let i = 0; i < lengths.length; i++) {
    assertCount(lengths[i], `lengths[${i}]`);
    total += lengths[i]!;
    if (total > 0x7fffffff) {
      throw new ArgumentError(
        "ERR_SHAPE",
        `lengths: expected at most 2^31 - 1 elements in all, got more at row ${i}`,
      );
    }
    offsets[i + 1] = total;
  }
  return offsets;
}

/**
 * Row `i` of a ragged array, as a view on its data.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE` when there is no such row
 */
export function row<T extends RaggedData>(values: Ragged<T>, index: number): T {
  const rows = values.offsets.length - 1;
  if (!Number.isInteger(index) || index < 0 || index >= rows) {
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `index: expected an integer in [0, ${rows}), got ${index}`);
  }
  return values.data.subarray(values.offsets[index], values.offsets[index + 1]) as T;
}

/**
 * Where the tokens of a padded `[rows, width]` array stand: row `i` of the ragged form is the span from the first to
 * the last valid position, and `mask` (one per ragged token) keeps the holes inside it.
 */
export interface PaddedLayout {
  /** Number of responses. */
  readonly rows: number;
  /** Padded length. */
  readonly width: number;
  /** Column of each row's first token. */
  readonly starts: Int32Array;
  /** Offsets of the ragged form. */
  readonly offsets: Int32Array;
  /** 1 for a valid token, 0 for a hole inside a row (tool output, for example). */
  readonly mask: Uint8Array<ArrayBuffer>;
  /** True when no row has a hole; `mask` may then be left out. */
  readonly dense: boolean;
}

/**
 * Reads the layout off a response mask.
 *
 * @param mask - `[rows, width]` in row-major order, non-zero where a token counts; left, right or no padding
 * @param rows - number of responses
 * @param width - padded length
 * @throws {@link ArgumentError} `ERR_SHAPE` when `mask.length` is not `rows * width`, `ERR_ARGUMENT_VALUE` for a mask
 * value other than 0 and 1
 */
export function paddedLayout(mask: ArrayLike<number | boolean>, rows: number, width: number): PaddedLayout {
  assertCount(rows, "rows");
  assertCount(width, "width");
  if (mask.length !== rows * width) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `mask: expected rows * width = ${rows * width} values, got ${mask.length}`,
    );
  }
  const starts = new Int32Array(rows);
  const lengths = new Int32Array(rows);
  for (let i = 0; i < rows; i++) {
    let last = -1;
    for (let t = 0; t < width; t++) {
      const value = Number(mask[i * width + t]);
      if (value !== 0 && value !== 1) {
        throw new ArgumentError(
          "ERR_ARGUMENT_VALUE",
          `mask[${i * width + t}]: expected 0 or 1, got ${mask[i * width + t]}`,
        );
      }
      if (value === 0) continue;
      if (last < 0) starts[i] = t;
      last = t;
    }
    lengths[i] = last < 0 ? 0 : last - starts[i]! + 1;
  }
  const offsets = raggedOffsets(lengths);
  const kept = new Uint8Array(offsets[rows]!);
  for (let i = 0; i < rows; i++) {
    for (let t = 0; t < lengths[i]!; t++) kept[offsets[i]! + t] = Number(mask[i * width + starts[i]! + t]);
  }
  return { rows, width, starts, offsets, mask: kept, dense: kept.every((value) => value === 1) };
}

/**
 * Selects the tokens of a padded array. Padding is never read, so it may hold NaN, infinities or anything else.
 *
 * @param data - `[layout.rows, layout.width]` in row-major order
 * @param layout - from {@link paddedLayout}
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_SHAPE`
 */
export function fromPadded<T extends RaggedData>(data: T, layout: PaddedLayout): Ragged<Owned<T>> {
  assertTypedArray(data, "data", ["Float32Array", "Float64Array", "Int32Array", "Uint8Array"]);
  if (data.length !== layout.rows * layout.width) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `data: expected ${layout.rows} x ${layout.width} values, got ${data.length}`,
    );
  }
  const out = new (data.constructor as new (length: number) => Owned<T>)(layout.offsets[layout.rows]!);
  for (let i = 0; i < layout.rows; i++) {
    const begin = i * layout.width + layout.starts[i]!;
    out.set(data.subarray(begin, begin + layout.offsets[i + 1]! - layout.offsets[i]!), layout.offsets[i]!);
  }
  return { data: out, offsets: layout.offsets };
}

/**
 * Writes a ragged array into its padded form.
 *
 * @param values - one value per token of `layout`
 * @param layout - from {@link paddedLayout}
 * @param fill - what the padding holds, default 0
 * @returns `[layout.rows, layout.width]` in row-major order
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_SHAPE`
 */
export function toPadded<T extends RaggedData>(values: Ragged<T>, layout: PaddedLayout, fill = 0): Owned<T> {
  assertTypedArray(values.data, "values.data", ["Float32Array", "Float64Array", "Int32Array", "Uint8Array"]);
  assertOffsets(values.offsets, values.data.length, "values.offsets");
  if (values.data.length !== layout.offsets[layout.rows] || values.offsets.length !== layout.rows + 1) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `values: expected the ${layout.offsets[layout.rows]} tokens of the layout, got ${values.data.length}`,
    );
  }
  const out = new (values.data.constructor as new (length: number) => Owned<T>)(
    layout.rows * layout.width,
  ).fill(fill) as Owned<T>;
  for (let i = 0; i < layout.rows; i++) {
    out.set(
      values.data.subarray(layout.offsets[i], layout.offsets[i + 1]),
      i * layout.width + layout.starts[i]!,
    );
  }
  return out;
}
