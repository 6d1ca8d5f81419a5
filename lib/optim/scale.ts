import type { DeviceTensor } from "../cuda/tensor.ts";
import type { DeviceValue } from "../cuda/value.ts";
import { NumericError } from "../errors.ts";

/** @internal Norm and scale of gradients on the device, side by side in one tensor. */
export class DeviceNorm implements DeviceValue<number> {
  readonly tensor: DeviceTensor<"float64">;
  readonly index: number = 0;

  constructor(tensor: DeviceTensor<"float64">) {
    this.tensor = tensor;
  }

  async download(): Promise<number> {
    const value = (await this.tensor.download())[this.index]!;
    if (Number.isNaN(value)) throwBeyond();
    return value;
  }
}

/** @internal The second of the two, which kernels take where it is. */
export class DeviceScale extends DeviceNorm {
  override readonly index = 1;
}

/** @internal */
export function throwBeyond(): never {
  throw new NumericError("ERR_NOT_FINITE", "grads: expected a norm within float64, got more than 1.8e308");
}
