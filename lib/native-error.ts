import { AddonError, DeviceError, type MinformError, type MinformErrorCode } from "./errors.ts";

// In the order of cuda::Status in native/include/minform/cuda/runtime.h, from 1 on.
const DEVICE_CODES: readonly MinformErrorCode[] = [
  "ERR_DEVICE_NONE",
  "ERR_DEVICE_MEMORY",
  "ERR_DEVICE",
  "ERR_DEVICE_LOST",
  "ERR_DEVICE",
];

/** @internal The error for what native code threw while it did `what`. */
export function nativeError(what: string, cause: unknown): MinformError {
  const { message, cudaStatus } = cause as Error & { cudaStatus?: number };
  const code = cudaStatus === undefined ? undefined : DEVICE_CODES[cudaStatus - 1];
  return code === undefined
    ? new AddonError("ERR_ADDON", `${what} failed: ${message}`, { cause })
    : new DeviceError(code, `${what} failed on the GPU: ${message}`, { cause });
}
