import type { RaggedInts } from "../model/types.ts";
import { assertCount } from "../validate.ts";
import { randomStream } from "./arithmetic/random.ts";

/**
 * Indices 0 to count - 1 in a random order (Fisher-Yates) that seed and epoch decide.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE`
 */
export function shuffled(count: number, seed: number, epoch: number): Int32Array {
  for (const [name, value] of Object.entries({ count, seed, epoch })) assertCount(value, name);
  const order = Int32Array.from({ length: count }, (_, i) => i);
  const random = randomStream(seed, epoch);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

/** The endless list of shuffled epochs of a set of rows, cut into batches: a batch depends on seed and step alone. */
export class EpochSampler {
  private epoch = -1;
  private order: Int32Array = new Int32Array();

  /**
   * @param rows - size of the set, at least 1
   * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE`
   */
  constructor(
    private readonly rows: number,
    private readonly seed: number,
  ) {
    assertCount(rows, "rows", 1);
  }

  /** Indices of the rows of a step (from 0 on); a batch may reach over the end of an epoch. */
  at(step: number, batch: number): number[] {
    return Array.from({ length: batch }, (_, i) => {
      const place = step * batch + i;
      const epoch = Math.floor(place / this.rows);
      if (epoch !== this.epoch) {
        this.order = shuffled(this.rows, this.seed, epoch);
        this.epoch = epoch;
      }
      return this.order[place % this.rows]!;
    });
  }
}

/** Rows `from` to `to - 1`. */
export interface RowRange {
  /** The first row. */
  readonly from: number;
  /** The row after the last. */
  readonly to: number;
}

/**
 * Splits rows into micro-batches of at most `budget` tokens, in order; a longer row is one of its own. With losses that
 * state the denominator of the whole batch, the gradient does not depend on the split but for rounding.
 *
 * @param lengths - tokens per row
 * @returns a range per micro-batch
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE` for a budget below 1
 */
export function packRows(lengths: ArrayLike<number>, budget: number): RowRange[] {
  assertCount(budget, "budget", 1);
  const ranges: RowRange[] = [];
  for (let from = 0, tokens = 0, at = 0; at < lengths.length; at++) {
    tokens += lengths[at]!;
    const isLast = at + 1 === lengths.length;
    if (!isLast && tokens + lengths[at + 1]! <= budget) continue;
    ranges.push({ from, to: at + 1 });
    from = at + 1;
    tokens = 0;
  }
  return ranges;
}

/** Rows one after the other, as a model takes them. */
export function joinRows(rows: readonly ArrayLike<number>[]): RaggedInts {
  const offsets = new Int32Array(rows.length + 1);
  rows.forEach((row, i) => {
    offsets[i + 1] = offsets[i]! + row.length;
  });
  const data = new Int32Array(offsets[rows.length]!);
  for (const [i, row] of rows.entries()) data.set(row, offsets[i]!);
  return { data, offsets };
}
