import { launch } from "../cuda/launch.ts";
import { addon } from "../load.ts";
import { ArgumentError } from "../errors.ts";
import type { Mask, Owned, Ragged, Values } from "../ragged.ts";
import { assertStatus } from "../kernel-status.ts";
import { assertRaggedValues, checkMask, outputLike } from "../placed-values.ts";
import { assertNumber, describe } from "../validate.ts";

/** Options of {@link whiten}. */
export interface WhitenOptions<T extends Values> {
  /** One per token: 0 leaves the token out of the statistics and gets +0. */
  mask?: Mask;
  /** False keeps the mean: only the deviation becomes 1. Default true. */
  shiftMean?: boolean;
  /** Added to the variance, >= 0. Default 1e-8. */
  epsilon?: number;
  /** The variance is the sum of squares over n - ddof. Default 1. */
  ddof?: 0 | 1;
  /** Reused for the result; may be the data of the input. */
  out?: T;
}

/** @internal Asserts 0 or 1. */
export function assertDdof(ddof: unknown): void {
  if (ddof !== 0 && ddof !== 1) {
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `ddof: expected 0 or 1, got ${describe(ddof)}`);
  }
}

/**
 * Whitening over all counted tokens of the batch: `(x - mean) / sqrt(variance + epsilon)`; with `shiftMean: false` the
 * mean is added back. Tokens count by position, never by value: an exact 0 counts.
 *
 * Values that are all equal, and a single value, give exactly 0. Mean and variance are merged from blocks of two-pass
 * statistics: common offsets cost no digits, finite input never overflows.
 *
 * @param values - finite, one per token
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` naming row and position
 */
export function whiten<T extends Values>(
  values: Ragged<T>,
  options: WhitenOptions<T> = {},
): Ragged<Owned<T>> {
  const { mask, shiftMean = true, epsilon = 1e-8, ddof = 1, out } = options;
  assertRaggedValues(values, "values");
  assertNumber(epsilon, "epsilon", { low: 0 });
  assertDdof(ddof);
  const { data, offsets } = values;
  const result = outputLike(out, data, data.length, "out", "values.data");
  const status = launch(
    "whiten",
    addon().advantage.whiten,
    data,
    checkMask(mask, "mask", data.length, data),
    shiftMean === true,
    epsilon,
    ddof,
    result,
  );
  assertStatus(status, offsets, { values: data });
  return { data: result, offsets };
}
