import { addon } from "./load.ts";
import { assertNumber } from "./validate.ts";
import { ArgumentError } from "./errors.ts";

/** What the CPU kernels run on. */
export interface Capabilities {
  /** Highest instruction-set level compiled in and supported here: `"baseline"`, `"avx2"`, `"avx512"`. */
  readonly isaDetected: string;
  /** The level in use: `isaDetected`, capped by the environment variable `MINFORM_ISA`. */
  readonly isaInUse: string;
  /** Threads a kernel spreads over. */
  readonly threads: number;
}

/** Instruction-set level and threads of the native kernels. Throws {@link AddonError} when the addon cannot be loaded. */
export function capabilities(): Capabilities {
  const { isaDetected, isaInUse } = addon().capabilities();
  return { isaDetected, isaInUse, threads: addon().getNumThreads() };
}

/** Whether the GPU can be used. */
export interface CudaInfo {
  /** The addon was built with the CUDA backend. */
  readonly compiled: boolean;
  /** At least one device works. */
  readonly available: boolean;
  /** Devices found; 0 when none works. */
  readonly devices: number;
  /** Why no device is available, in the driver's words; empty when one is. */
  readonly reason: string;
}

/** CUDA availability. Never throws: without addon, driver or device, `available` is false and `reason` says why. */
export function cudaInfo(): CudaInfo {
  try {
    const { cudaCompiled, cudaDevices, cudaReason } = addon().capabilities();
    return { compiled: cudaCompiled, available: cudaDevices > 0, devices: cudaDevices, reason: cudaReason };
  } catch (error) {
    return { compiled: false, available: false, devices: 0, reason: (error as Error).message };
  }
}

/** Threads that a native kernel spreads over, the calling one included. Default: physical cores. */
export function getNumThreads(): number {
  return addon().getNumThreads();
}

/**
 * Sets the number of threads, for the whole process. Results have the same bits for every setting.
 *
 * @param threads - integer in [1, 1024]
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE`
 */
export function setNumThreads(threads: number): void {
  assertNumber(threads, "threads", { low: 1, high: 1024 });
  if (!Number.isInteger(threads)) {
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `threads: expected an integer, got ${threads}`);
  }
  addon().setNumThreads(threads);
}
