import type { NativeJob } from "../addon.ts";

declare const stream: unique symbol;
declare const array: unique symbol;

/** @internal A stream of bindings/device.cc. */
export interface NativeStream {
  readonly [stream]: never;
}

/** @internal An array on the device. */
export interface NativeArray {
  readonly [array]: never;
}

/** @internal Typed arrays that the device holds. */
export type HostArray = Float32Array | Float64Array | Int32Array | Uint8Array | Uint16Array | BigInt64Array;

/** @internal Memory, copies and streams: bindings/device.cc. `kind` is a napi_typedarray_type. */
export interface DeviceKernels {
  open(): NativeJob;
  limits(): { major: number; minor: number; multiprocessors: number; totalBytes: number };
  createStream(): NativeStream;
  allocate(stream: NativeStream, kind: number, length: number): NativeArray;
  upload(stream: NativeStream, values: HostArray): NativeArray;
  uploadKnown(before: NativeArray | null, stream: NativeStream, values: HostArray): NativeArray;
  read(from: NativeArray, first: number, to: HostArray): void;
  download(from: NativeArray, first: number, to: HostArray): NativeJob;
  fill(array: NativeArray, byte: number): void;
  dispose(array: NativeArray): void;
  synchronize(stream: NativeStream): NativeJob;
  memory(): { inUse: number; peak: number; reserved: number };
  resetPeak(): void;
  trim(): void;
}
