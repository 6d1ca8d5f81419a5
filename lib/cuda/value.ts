import type { Values } from "../ragged.ts";
import type { DeviceTensor } from "./tensor.ts";

/** A value that a call on a GPU computes: it is copied when it is asked for. */
export interface DeviceValue<V> {
  /**
   * Copies the value to the host, once the calls made so far have run.
   *
   * @throws as {@link DeviceTensor.download}
   */
  download(): Promise<V>;
}

/** A value as it is, or, of a call on a GPU, on demand. */
export type PlacedValue<T extends Values, V> = T extends DeviceTensor ? DeviceValue<V> : V;
