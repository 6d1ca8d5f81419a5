import { assertLive } from "./cuda/place.ts";
import { DeviceTensor } from "./cuda/tensor.ts";
import { ArgumentError } from "./errors.ts";
import { type ArrayName, assertTypedArray, describe, typeName } from "./validate.ts";

/**
 * Element types of a {@link Tensor} and the arrays that hold them. bfloat16 and float16 are the raw 16-bit patterns; a
 * float16 tensor may hold a `Float16Array` too, where the runtime has one.
 */
export interface TensorArrays {
  /** IEEE single precision. */
  float32: Float32Array;
  /** IEEE double precision. */
  float64: Float64Array;
  /** The upper half of a float32. */
  bfloat16: Uint16Array;
  /** IEEE half precision. */
  float16: Uint16Array;
}

/** Name of an element type. */
export type TensorType = keyof TensorArrays;

/**
 * A dense row-major array with its shape. Structurally what `onnxruntime-common`'s `Tensor` is, so that a model's output
 * can be passed as it comes.
 */
export interface Tensor<K extends TensorType = TensorType> {
  /** Element type. */
  readonly type: K;
  /** The elements, row by row. */
  readonly data: TensorArrays[K];
  /** Extents, outermost first; their product is `data.length`. */
  readonly dims: readonly number[];
}

/** What a computation on tensors of the type returns: float64 for float64, float32 for everything narrower. */
export type ResultArray<K extends TensorType> = K extends "float64"
  ? Float64Array<ArrayBuffer>
  : Float32Array<ArrayBuffer>;

/** @internal Order of the native enum Element. */
export const TENSOR_TYPES: readonly TensorType[] = ["float32", "float64", "bfloat16", "float16"];

const arrays: Record<TensorType, readonly ArrayName[]> = {
  float32: ["Float32Array"],
  float64: ["Float64Array"],
  bfloat16: ["Uint16Array"],
  float16: ["Uint16Array"],
};

/** Name of the {@link ResultArray}'s type. */
export type ResultType<K extends TensorType> = K extends "float64" ? "float64" : "float32";

/** @internal A checked tensor as the native core takes it. */
export interface NativeTensor<K extends TensorType = TensorType, Data = TensorArrays[K]> {
  data: Data;
  element: number;
  dims: readonly number[];
}

/** @internal The same on the host or on the device. */
export type PlacedTensor<K extends TensorType = TensorType> = NativeTensor<
  K,
  TensorArrays[K] | DeviceTensor<K>
>;

const largest = 0x7fffffff;

/** @internal Asserts a tensor with the given axes, none of them empty, over memory a native thread can work on. */
export function checkTensor<K extends TensorType>(
  value: Tensor<K>,
  name: string,
  axes: readonly string[],
): NativeTensor<K> {
  if (value === null || typeof value !== "object") {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `${name}: expected a tensor { type, data, dims }, got ${typeName(value)}`,
    );
  }
  const { type, dims } = value;
  const element = TENSOR_TYPES.indexOf(type);
  if (element < 0) {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `${name}.type: expected one of ${TENSOR_TYPES.join(", ")}, got ${describe(type)}`,
    );
  }
  const data = bitsOfFloat16(value.data, type);
  assertTypedArray(data, `${name}.data`, arrays[type]);
  assertLasting(data, `${name}.data`);
  checkDims(dims, data.length, name, axes);
  return { data: data as TensorArrays[K], element, dims };
}

/** @internal As checkTensor, for a tensor on the host or on the device. */
export function checkPlaced<K extends TensorType>(
  value: Tensor<K> | DeviceTensor<K>,
  name: string,
  axes: readonly string[],
): PlacedTensor<K> {
  if (!(value instanceof DeviceTensor)) return checkTensor(value, name, axes);
  const element = TENSOR_TYPES.indexOf(value.type);
  if (element < 0) {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `${name}: expected one of ${TENSOR_TYPES.join(", ")}, got ${value}`,
    );
  }
  assertLive(value, name);
  checkDims(value.dims, value.length, name, axes);
  return { data: value, element, dims: value.dims };
}

function checkDims(dims: unknown, length: number, name: string, axes: readonly string[]): void {
  const shape = `[${axes.join(", ")}]`;
  if (!Array.isArray(dims) || dims.length !== axes.length) {
    const got = Array.isArray(dims) ? `[${dims.join(", ")}]` : describe(dims);
    throw new ArgumentError("ERR_SHAPE", `${name}.dims: expected ${shape}, got ${got}`);
  }
  let product = 1;
  dims.forEach((extent: unknown, axis) => {
    if (typeof extent !== "number" || !Number.isInteger(extent) || extent < 1 || extent > largest) {
      throw new ArgumentError(
        "ERR_SHAPE",
        `${name}.dims[${axis}]: expected ${axes[axis]} as an integer in [1, 2^31 - 1], got ${describe(extent)}`,
      );
    }
    product *= extent;
  });
  if (product !== length) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `${name}: expected dims ${dims.join(" x ")} = ${product} elements, got ${length}`,
    );
  }
}

// A Float16Array is unknown to the native interface: its bits are passed.
function bitsOfFloat16(data: unknown, type: TensorType): TensorArrays[TensorType] {
  if (type === "float16" && typeName(data) === "Float16Array") {
    const view = data as ArrayBufferView<ArrayBuffer>;
    return new Uint16Array(view.buffer, view.byteOffset, view.byteLength / 2);
  }
  return data as TensorArrays[TensorType];
}

/** @internal Asserts memory of fixed size, for work that goes on after the call has returned. */
export function assertLasting(value: ArrayBufferView, name: string): void {
  if ((value.buffer as { resizable?: boolean }).resizable) {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `${name}: expected memory of fixed size, got a view on a resizable ArrayBuffer`,
    );
  }
}
