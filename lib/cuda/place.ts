// Where arrays are, and that those of a call are in the same place.
import { ArgumentError, DeviceError } from "../errors.ts";
import { DeviceTensor } from "./tensor.ts";

/** @internal Asserts a tensor on the device that has not been disposed of. */
export function assertLive(tensor: DeviceTensor, name: string): void {
  if (tensor.disposed) {
    throw new DeviceError(
      "ERR_CLOSED",
      `${name}: expected memory on the device, got ${tensor} after dispose()`,
    );
  }
}

/** @internal Asserts that two arrays are both on the host or both on the device. */
export function assertSamePlace(value: unknown, name: string, model: unknown, modelName: string): void {
  const [here, there] = [value instanceof DeviceTensor, model instanceof DeviceTensor];
  if (here === there || (!here && !ArrayBuffer.isView(value))) return;
  const place = (device: boolean) => (device ? "the device" : "the host");
  throw new ArgumentError(
    "ERR_PLACEMENT",
    `${name}: expected memory on ${place(there)} as ${modelName} is, got memory on ${place(here)}; upload one or download the other`,
  );
}
