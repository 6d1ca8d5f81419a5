import { addon } from "../load.ts";
import { ArgumentError } from "../errors.ts";
import type { Ragged, RaggedData } from "../ragged.ts";
import { checkTensor, type Tensor, type TensorType } from "../tensor.ts";
import { assertCount, assertOffsets, assertTypedArray, describe, typeName } from "../validate.ts";
import type { HostArray } from "./kernels.ts";
import { DeviceStream } from "./stream.ts";
import { DEVICE_TYPES, type DeviceTensor, type DeviceType } from "./tensor.ts";

/** Memory of the device, in bytes. */
export interface GpuMemory {
  /** Held by tensors and by work under way, of the whole process. */
  readonly inUse: number;
  /** The most that `inUse` has been since the start or {@link Gpu.resetPeak}. */
  readonly peak: number;
  /** What the process has taken from the device; the difference to `inUse` is kept for later calls. */
  readonly reserved: number;
}

/** The element type on the device of a typed array. A `Uint16Array` has none: pass a {@link Tensor}. */
export type DeviceTypeOf<T extends RaggedData> = T extends Float32Array
  ? "float32"
  : T extends Float64Array
    ? "float64"
    : T extends Int32Array
      ? "int32"
      : "uint8";

const TYPE_OF: Record<string, DeviceType> = {
  Float32Array: "float32",
  Float64Array: "float64",
  Int32Array: "int32",
  Uint8Array: "uint8",
};

/**
 * A GPU and a stream on it, from {@link cuda}. Calls on the tensors of one stream run in order; those of different
 * streams may run at the same time, and wait for each other where a call takes tensors of both.
 */
export class Gpu {
  readonly #stream = new DeviceStream();
  /** Compute capability, e.g. `[9, 0]`. */
  readonly computeCapability: readonly [major: number, minor: number];
  /** Streaming multiprocessors. */
  readonly multiprocessors: number;
  /** Memory of the card in bytes. */
  readonly totalBytes: number;

  /** @internal */
  constructor() {
    const { major, minor, multiprocessors, totalBytes } = addon().device.limits();
    this.computeCapability = [major, minor];
    this.multiprocessors = multiprocessors;
    this.totalBytes = totalBytes;
  }

  /**
   * Copies values to the device. The host's memory is free to be changed on return. A {@link Ragged} keeps its offsets
   * on the host.
   *
   * @param values - a typed array, a ragged array, or a tensor
   * @throws {@link ArgumentError}; {@link DeviceError} `ERR_DEVICE_MEMORY` when it does not fit
   */
  upload<T extends RaggedData>(values: T): DeviceTensor<DeviceTypeOf<T>>;
  upload<T extends RaggedData>(values: Ragged<T>): Ragged<DeviceTensor<DeviceTypeOf<T>>>;
  upload<K extends TensorType>(values: Tensor<K>): DeviceTensor<K>;
  upload(values: RaggedData | Ragged<RaggedData> | Tensor): DeviceTensor | Ragged<DeviceTensor> {
    if (ArrayBuffer.isView(values)) return this.#uploadArray(values, "values");
    if (values !== null && typeof values === "object" && "offsets" in values) {
      const { data, offsets } = values;
      const length = (data as RaggedData | undefined)?.length ?? 0;
      const uploaded = this.#uploadArray(data as RaggedData, "values.data");
      assertOffsets(offsets, length, "values.offsets");
      return { data: uploaded, offsets };
    }
    if (values === null || typeof values !== "object" || !("dims" in values)) {
      throw new ArgumentError(
        "ERR_ARGUMENT_TYPE",
        `values: expected a typed array, { data, offsets } or a tensor, got ${describe(values)}`,
      );
    }
    const axes = Array.isArray(values.dims) ? values.dims.map((_, axis) => `axis ${axis}`) : [];
    const { data, dims } = checkTensor(values, "values", axes);
    return this.#stream.upload(values.type, data as HostArray, [...dims]);
  }

  #uploadArray(values: RaggedData, name: string): DeviceTensor {
    assertTypedArray(values, name, ["Float32Array", "Float64Array", "Int32Array", "Uint8Array"]);
    return this.#stream.upload(TYPE_OF[typeName(values)]!, values, [values.length]);
  }

  /**
   * A tensor of zeros, e.g. the moments of {@link adamWInPlace}.
   *
   * @param type - element type
   * @param dims - extents, integers >= 0
   * @throws as {@link Gpu.upload}
   */
  zeros<K extends DeviceType>(type: K, dims: readonly number[]): DeviceTensor<K> {
    if (DEVICE_TYPES[type] === undefined) {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `type: expected one of ${Object.keys(DEVICE_TYPES).join(", ")}, got ${describe(type)}`,
      );
    }
    for (const [axis, extent] of dims.entries()) assertCount(extent, `dims[${axis}]`);
    const tensor = this.#stream.allocate(type, [...dims]);
    addon().device.fill(tensor.array, 0);
    return tensor;
  }

  /** The same device with a stream of its own. */
  stream(): Gpu {
    return new Gpu();
  }

  /**
   * Settles when the work started on this stream has ended.
   *
   * @throws as {@link DeviceTensor.download}
   */
  synchronize(): Promise<void> {
    return this.#stream.synchronize();
  }

  /** Memory in use, its peak, and what is reserved: of the process, whatever the stream. */
  memory(): GpuMemory {
    return addon().device.memory();
  }

  /** Starts the peak of {@link Gpu.memory} anew. */
  resetPeak(): void {
    addon().device.resetPeak();
  }

  /** Gives memory that is reserved and not in use back to the device. */
  trim(): void {
    addon().device.trim();
  }
}
