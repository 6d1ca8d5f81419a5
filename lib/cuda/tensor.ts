import { DeviceError } from "../errors.ts";
import { addon } from "../load.ts";
import type { HostArray, NativeArray } from "./kernels.ts";
import type { DeviceStream } from "./stream.ts";

/** Element types of a {@link DeviceTensor} and the arrays they are downloaded to. */
export interface DeviceArrays {
  /** IEEE single precision. */
  float32: Float32Array<ArrayBuffer>;
  /** IEEE double precision. */
  float64: Float64Array<ArrayBuffer>;
  /** The upper half of a float32, as its bits. */
  bfloat16: Uint16Array<ArrayBuffer>;
  /** IEEE half precision, as its bits. */
  float16: Uint16Array<ArrayBuffer>;
  /** Token ids and indices. */
  int32: Int32Array<ArrayBuffer>;
  /** Masks. */
  uint8: Uint8Array<ArrayBuffer>;
}

/** Name of an element type on the device. */
export type DeviceType = keyof DeviceArrays;

/** @internal Per element type: the host's array and its napi_typedarray_type. */
export const DEVICE_TYPES: {
  [K in DeviceType]: { array: new (length: number) => DeviceArrays[K]; kind: number };
} = {
  float32: { array: Float32Array, kind: 7 },
  float64: { array: Float64Array, kind: 8 },
  bfloat16: { array: Uint16Array, kind: 4 },
  float16: { array: Uint16Array, kind: 4 },
  int32: { array: Int32Array, kind: 5 },
  uint8: { array: Uint8Array, kind: 1 },
};

/**
 * An array in the memory of a GPU, from {@link Gpu.upload} or from a function that was given such arrays. It belongs to
 * a stream: work on it is started in the order of the calls and has not ended when they return.
 *
 * Its memory is released by `dispose()` (or `using`), else when it is garbage-collected.
 */
export class DeviceTensor<K extends DeviceType = DeviceType> {
  /** Element type. */
  readonly type: K;
  /** Extents, outermost first; their product is `length`. */
  readonly dims: readonly number[];
  /** Number of elements. */
  readonly length: number;
  /** @internal */
  readonly stream: DeviceStream;
  #array: NativeArray | undefined;

  /** @internal */
  constructor(stream: DeviceStream, array: NativeArray, type: K, dims: readonly number[]) {
    this.stream = stream;
    this.#array = array;
    this.type = type;
    this.dims = dims;
    this.length = dims.reduce((product, extent) => product * extent, 1);
  }

  /** Whether the memory has been given back. */
  get disposed(): boolean {
    return this.#array === undefined;
  }

  /** @internal The array as the native core takes it. */
  get array(): NativeArray {
    if (this.#array === undefined) {
      throw new DeviceError(
        "ERR_CLOSED",
        `tensor: expected memory on the device, got ${this} after dispose()`,
      );
    }
    return this.#array;
  }

  /**
   * Copies the elements to the host, off the JavaScript thread: what they are once the calls made so far have run. Later
   * calls change nothing about it, `dispose()` included.
   *
   * @throws {@link NumericError} when a call on the tensor's stream met a value that must be finite and is not;
   * {@link DeviceError} (all as rejections)
   */
  async download(): Promise<DeviceArrays[K]> {
    const values = new DEVICE_TYPES[this.type].array(this.length);
    await this.stream.checked(addon().device.download(this.array, 0, values));
    return values as DeviceArrays[K];
  }

  /** @internal Elements `first .. first + count`, waiting for the stream on the JavaScript thread. */
  read(first: number, count: number): DeviceArrays[K] {
    const values = new DEVICE_TYPES[this.type].array(count);
    addon().device.read(this.array, first, values as HostArray);
    return values as DeviceArrays[K];
  }

  /** Gives the memory back, after the work that has been started on it. Again: nothing happens. */
  dispose(): void {
    if (this.#array === undefined) return;
    addon().device.dispose(this.#array);
    this.#array = undefined;
  }

  /** As {@link DeviceTensor.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** E.g. `DeviceTensor<float32>[8, 4]`. */
  toString(): string {
    return `DeviceTensor<${this.type}>[${this.dims.join(", ")}]`;
  }
}
