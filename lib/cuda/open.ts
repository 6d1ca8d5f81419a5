import { runJob } from "../job.ts";
import { addon } from "../load.ts";
import { Gpu } from "./gpu.ts";

let opened: Promise<Gpu> | undefined;

/**
 * The GPU, with the stream that all callers in this thread share; {@link Gpu.stream} gives others. The first call opens
 * the driver, off the JavaScript thread. {@link cudaInfo} tells without an error whether it would succeed.
 *
 * @throws {@link DeviceError} `ERR_DEVICE_NONE` with the driver's reason, {@link AddonError} (as rejections)
 */
export function cuda(): Promise<Gpu> {
  opened ??= open().catch((error: unknown) => {
    opened = undefined;
    throw error;
  });
  return opened;
}

async function open(): Promise<Gpu> {
  await runJob(undefined, () => addon().device.open());
  return new Gpu();
}
