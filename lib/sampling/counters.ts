import { ArgumentError } from "../errors.ts";
import { describe, typeName } from "../validate.ts";

/**
 * What tells the draws of one seed apart, one of each per row: equal counters draw with the same random number, wherever
 * in a batch they stand.
 */
export interface DrawCounters {
  /** Position in the response, integers in [0, 2^32). */
  readonly steps: ArrayLike<number>;
  /** Number of the response among those to its prompt, integers in [0, 2^32). */
  readonly samples: ArrayLike<number>;
  /** Which prompt: integers in [0, 2^53), or bigints in [0, 2^64), e.g. a hash in a `BigUint64Array`. */
  readonly prompts: ArrayLike<number> | ArrayLike<bigint>;
}

const WORD = 2 ** 32;

/** @internal The counters as four 32-bit words per row: step, sample, lower and upper half of prompt. */
export function packCounters(counters: DrawCounters, rows: number): Int32Array {
  if (counters === null || typeof counters !== "object") {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `counters: expected { steps, samples, prompts }, got ${typeName(counters)}`,
    );
  }
  const { steps, samples, prompts } = counters;
  for (const [name, list] of Object.entries({ steps, samples, prompts })) assertList(list, name, rows);
  const words = new Int32Array(4 * rows);
  for (let row = 0; row < rows; row++) {
    words[4 * row] = word(steps[row], `counters.steps[${row}]`);
    words[4 * row + 1] = word(samples[row], `counters.samples[${row}]`);
    words.set(halves(prompts[row], `counters.prompts[${row}]`), 4 * row + 2);
  }
  return words;
}

function assertList(list: ArrayLike<number | bigint>, name: string, rows: number): void {
  if (list === null || typeof list !== "object" || typeof list.length !== "number") {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `counters.${name}: expected one integer per row, got ${typeName(list)}`,
    );
  }
  if (list.length !== rows) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `counters.${name}: expected the ${rows} rows of logits, got ${list.length}`,
    );
  }
}

function word(value: unknown, name: string): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value < WORD) return value | 0;
  throw new ArgumentError(
    "ERR_ARGUMENT_VALUE",
    `${name}: expected an integer in [0, 2^32), got ${describe(value)}`,
  );
}

function halves(value: unknown, name: string): [low: number, high: number] {
  if (typeof value === "bigint" && value === BigInt.asUintN(64, value)) {
    return [Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n))];
  }
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) {
    return [value | 0, Math.floor(value / WORD) | 0];
  }
  throw new ArgumentError(
    "ERR_ARGUMENT_VALUE",
    `${name}: expected an integer in [0, 2^53) or a bigint in [0, 2^64), got ${describe(value)}`,
  );
}
