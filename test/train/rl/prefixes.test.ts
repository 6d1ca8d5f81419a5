import { expect, test } from "vitest";
import { randomStream } from "../../../lib/train/arithmetic/random.ts";
import { sharePrefixes } from "../../../lib/train/rl/prefixes.ts";

const rows = (...lists: number[][]) => lists.map((list) => Int32Array.from(list));

test("beginnings and equals are found in the longest row, others stay", () => {
  const shared = sharePrefixes(rows([1, 2], [1, 2, 3], [1, 3], [1, 2], [2], [1, 2, 3, 10], [1, 2, 4]));
  expect(shared.rows.map((row) => [...row])).toEqual([[2], [1, 3], [1, 2, 4], [1, 2, 3, 10]]);
  // [1, 2] begins two rows; either will do.
  const begins = (row: number) => [...shared.rows[shared.places[row]!]!].slice(0, 2);
  expect(begins(0)).toEqual([1, 2]);
  expect([...shared.places].slice(1, 3)).toEqual([3, 1]);
  expect([...shared.places].slice(4)).toEqual([0, 3, 2]);
});

test("whatever the rows are: each begins the row of its place, and no row that stays begins another", () => {
  const random = randomStream(1);
  for (let round = 0; round < 200; round++) {
    const given = Array.from({ length: 1 + Math.floor(12 * random()) }, () =>
      Int32Array.from({ length: Math.floor(5 * random()) }, () => Math.floor(3 * random())),
    );
    const shared = sharePrefixes(given);
    const begins = (row: Int32Array, of: Int32Array) =>
      `${[...of]},`.startsWith(`${[...row]},`) || row.length === 0;
    for (const [i, row] of given.entries()) expect(begins(row, shared.rows[shared.places[i]!]!)).toBe(true);
    for (const [i, row] of shared.rows.entries()) {
      for (const [j, other] of shared.rows.entries()) if (i !== j) expect(begins(row, other)).toBe(false);
    }
  }
});
