import { ropeFrequencies } from "./frequencies.ts";
import type { Rope } from "./rope.ts";

interface Table {
  readonly frequencies: Float32Array;
  readonly magnitude: number;
  cos: Float32Array;
  sin: Float32Array;
  positions: number;
}

// Rows of different lengths have different frequencies under dynamic scaling: a few tables are enough for a batch
// that is sorted by length, and bound what a long run keeps.
const MAX_TABLES = 8;

/** @internal cos and sin of every position, computed once and grown as longer rows come. */
export class Rotation {
  private readonly tables = new Map<number, Table>();

  constructor(private readonly rope: Rope) {}

  /**
   * Writes `cos(p f_i)` and `sin(p f_i)` of one token.
   *
   * @param position - p
   * @param length - the length of the token's row, on which some scalings depend
   * @param cos - of all tokens, `dim / 2` each
   * @param sin - likewise
   * @param token - which token
   */
  write(position: number, length: number, cos: Float32Array, sin: Float32Array, token: number): void {
    const half = this.rope.dim / 2;
    const table = this.table(length);
    if (position >= table.positions) grow(table, Math.max(position + 1, 2 * table.positions, 64), half);
    const from = position * half;
    cos.set(table.cos.subarray(from, from + half), token * half);
    sin.set(table.sin.subarray(from, from + half), token * half);
  }

  private table(length: number): Table {
    const { scaling } = this.rope;
    let key = 0;
    if (scaling.type === "dynamic") key = Math.max(length, scaling.positions);
    if (scaling.type === "longrope") key = length > scaling.original ? 1 : 0;
    let table = this.tables.get(key);
    if (table === undefined) {
      if (this.tables.size === MAX_TABLES) this.tables.delete(this.tables.keys().next().value!);
      const none = new Float32Array(0);
      table = { ...ropeFrequencies(this.rope, length), cos: none, sin: none, positions: 0 };
      this.tables.set(key, table);
    }
    return table;
  }
}

function grow(table: Table, positions: number, half: number): void {
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  cos.set(table.cos);
  sin.set(table.sin);
  for (let p = table.positions; p < positions; p++) {
    for (let i = 0; i < half; i++) {
      const angle = Math.fround(p * table.frequencies[i]!);
      cos[p * half + i] = Math.fround(Math.cos(angle)) * table.magnitude;
      sin[p * half + i] = Math.fround(Math.sin(angle)) * table.magnitude;
    }
  }
  table.cos = cos;
  table.sin = sin;
  table.positions = positions;
}
