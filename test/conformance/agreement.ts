// Comparing what was computed with what a peer's function gave.
import { expect } from "vitest";
import { type Expected, flatten } from "./case-file.ts";
import type { Outcome, Results } from "./functions.ts";
import { decodeNumber } from "./key.ts";

// float64: relative to max(1, |expected|), so relative for values above 1 and absolute for values below.
const FLOAT64_BOUND = 1e-9;
// float32: the same, beyond what rounding the inputs does by itself (measured in float64: a rounded ratio may cross a
// clip bound). Where a standard deviation divides, the bound grows by the largest value over that deviation.
const FLOAT32_BOUND = 1e-6;

/** The outcome of one key for float64 inputs, for inputs rounded to float32 but in float64, and in float32. */
export interface Runs {
  exact: Outcome;
  rounded: Outcome;
  single: Outcome;
}

interface Value {
  path: string;
  value: number;
}

// Everything that the file expects, in order, under the mask; a shape that differs is an error.
function expectedValues(
  path: string,
  expected: Expected,
  mask: Uint8Array | undefined,
  width: number,
): Value[] {
  if (Array.isArray(expected)) {
    const values = flatten(expected, path);
    if (mask !== undefined && values.length !== mask.length)
      throw new Error(`${path}: not one value per token`);
    return values.flatMap((value, i) =>
      mask?.[i] === 0 ? [] : [{ path: `${path}[${Math.floor(i / width)}, ${i % width}]`, value }],
    );
  }
  if (typeof expected === "object") {
    return Object.entries(expected).flatMap(([name, value]) =>
      expectedValues(`${path}.${name}`, value, mask, width),
    );
  }
  return [{ path, value: decodeNumber(expected, path) }];
}

// The computed values at the same places; what is expected and was not computed is an error.
function computedValues(
  path: string,
  expected: Expected,
  results: Outcome["results"] | number | undefined,
  mask?: Uint8Array,
): number[] {
  if (results === undefined) throw new Error(`${path}: in the file, but not computed`);
  if (Array.isArray(expected)) {
    const count = flatten(expected, path).length;
    if (!ArrayBuffer.isView(results) || results.length !== count) throw new Error(`${path}: another shape`);
    return Array.from(results).filter((_, i) => mask?.[i] !== 0);
  }
  if (typeof expected === "object") {
    return Object.entries(expected).flatMap(([name, value]) =>
      computedValues(`${path}.${name}`, value, (results as Results)[name], mask),
    );
  }
  if (typeof results !== "number") throw new Error(`${path}: a number is expected`);
  return [results];
}

function expectWithin({ path, value }: Value, actual: number, bound: number, slack: number): void {
  if (actual === value || (Number.isNaN(actual) && Number.isNaN(value))) return;
  const allowed = bound * Math.max(1, Math.abs(value)) + slack;
  const error = Math.abs(actual - value);
  if (!Number.isFinite(value) || !(error <= allowed)) {
    expect.fail(`${path}: got ${actual}, the peer has ${value} (off by ${error}, allowed ${allowed})`);
  }
}

/** Compares both dtypes with the file; returns how many numbers it compared. */
export function expectAgreement(
  key: string,
  expected: Expected,
  runs: Runs,
  mask: Uint8Array | undefined,
  width: number,
): number {
  const wanted = expectedValues(key, expected, mask, width);
  const exact = computedValues(key, expected, runs.exact.results, mask);
  const rounded = computedValues(key, expected, runs.rounded.results, mask);
  const single = computedValues(key, expected, runs.single.results, mask);
  const bounds = float32Bounds(key, expected, runs.single, mask, width);
  wanted.forEach((want, i) => {
    expectWithin(want, exact[i]!, FLOAT64_BOUND, 0);
    const moved = Math.abs(rounded[i]! - exact[i]!);
    const slack = Number.isFinite(moved) ? moved : 0;
    expectWithin({ ...want, path: `${want.path} in float32` }, single[i]!, bounds[i]!, slack);
  });
  return 2 * wanted.length;
}

// The bound of every expected value.
function float32Bounds(
  key: string,
  expected: Expected,
  { amplification = {} }: Outcome,
  mask: Uint8Array | undefined,
  width: number,
): number[] {
  const results = typeof expected === "object" && !Array.isArray(expected) ? expected : { "": expected };
  return Object.entries(results).flatMap(([name, part]) =>
    expectedValues(key, part, mask, width).map(() => FLOAT32_BOUND * (amplification[name] ?? 1)),
  );
}
