// What kernels report: the place of the first value that is wrong.
import { type Status, whenKnown } from "./cuda/status.ts";
import { DeviceTensor } from "./cuda/tensor.ts";
import { NumericError } from "./errors.ts";
import type { Values } from "./ragged.ts";
import { rowAt } from "./row-at.ts";

/**
 * @internal Kernels return the flat index of the first element that must not be NaN and is, or -1. Throws for it,
 * naming the argument, the row and the position inside the row: now, or, for a call on the device, when its stream is
 * next waited for.
 */
export function assertStatus(
  status: Status,
  offsets: Int32Array,
  suspects: Record<string, Values | undefined>,
): void {
  whenKnown<Values>(status, suspects, (index, named) => {
    if (index >= 0) throwNotFinite(index, offsets, named);
  });
}

function throwNotFinite(
  index: number,
  offsets: Int32Array,
  suspects: Record<string, Values | null | undefined>,
): never {
  const row = rowAt(offsets, index);
  for (const [name, data] of Object.entries(suspects)) {
    const value = valueAt(data, index);
    if (value !== undefined && !Number.isFinite(value)) {
      throw new NumericError(
        "ERR_NOT_FINITE",
        `${name}: expected a finite number at row ${row}, position ${index - offsets[row]!}, got ${value}`,
      );
    }
  }
  throw new NumericError(
    "ERR_NOT_FINITE",
    `${Object.keys(suspects).join(", ")}: a NaN arises at row ${row}, position ${index - offsets[row]!}`,
  );
}

/** @internal One element; undefined where there is none, or none any more. */
export function valueAt(data: Values | null | undefined, index: number): number | undefined {
  if (!(data instanceof DeviceTensor)) return data?.[index];
  return data.disposed || index >= data.length ? undefined : data.read(index, 1)[0];
}
