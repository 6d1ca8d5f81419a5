// Seeded inputs for property tests: every test that uses fast-check passes `seeded` so that a failure can be replayed.
import fc from "fast-check";
import { type Ragged, ragged } from "../../lib/index.ts";

/** Options of fc.assert: fixed seed, bounded work. */
export const seeded = { seed: 20250415, numRuns: 60 } as const;

/** Rows of finite numbers in [-bound, bound]; rows may be empty, the batch has at least one row. */
export function rowsOfNumbers({
  bound = 3,
  maxRows = 6,
  maxLength = 12,
  minLength = 0,
} = {}): fc.Arbitrary<number[][]> {
  const value = fc.double({ min: -bound, max: bound, noNaN: true }).map((x) => x + 0);
  return fc.array(fc.array(value, { minLength, maxLength }), { minLength: 1, maxLength: maxRows });
}

/** A mask for each row, non-trivial more often than not. */
export function masksFor(rows: number[][]): fc.Arbitrary<number[][]> {
  return fc.tuple(
    ...rows.map((row) =>
      fc.array(fc.constantFrom(0, 1, 1), { minLength: row.length, maxLength: row.length }),
    ),
  );
}

/** Group ids, strings and numbers mixed. */
export function groupsFor(rows: unknown[]): fc.Arbitrary<(number | string)[]> {
  return fc.array(fc.constantFrom<number | string>("a", "b", 7), {
    minLength: rows.length,
    maxLength: rows.length,
  });
}

/** Permutation of 0 .. length - 1. */
export function permutation(length: number): fc.Arbitrary<number[]> {
  const indices = Array.from({ length }, (_, i) => i);
  return fc.shuffledSubarray(indices, { minLength: length, maxLength: length });
}

/** A mask as the Uint8Array of a ragged batch. */
export function maskOf(rows: number[][]): Uint8Array {
  return ragged(rows, "uint8").data;
}

/** Puts junk (NaN, infinities, huge values) wherever the mask is 0. */
export function poison<T extends Float32Array | Float64Array>(
  values: Ragged<T>,
  mask: Uint8Array,
): Ragged<T> {
  const junk = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e38, -1e38];
  const data = values.data.slice() as T;
  for (let i = 0; i < data.length; i++) if (mask[i] === 0) data[i] = junk[i % junk.length]!;
  return { data, offsets: values.offsets };
}
