/** @internal Rows without those that are the beginning of another one. */
export interface SharedRows {
  readonly rows: readonly Int32Array[];
  /** Per row that was given: which of `rows` begins with it. */
  readonly places: Int32Array;
}

/**
 * @internal Rows that are the beginning of another row (or its equal) need not go through a causal model themselves: their
 * outputs are the first ones of that row, to the bit. Responses that end at their first error share most of what they are.
 */
export function sharePrefixes(given: readonly Int32Array[]): SharedRows {
  // In falling order a row comes after all that it is the beginning of.
  const order = given.map((_, i) => i).sort((a, b) => compare(given[b]!, given[a]!));
  const rows: Int32Array[] = [];
  const places = new Int32Array(given.length);
  for (const i of order) {
    const row = given[i]!;
    const last = rows.at(-1);
    if (last === undefined || !isPrefix(row, last)) rows.push(row);
    places[i] = rows.length - 1;
  }
  return { rows, places };
}

// Token by token; of a row and its beginning, the beginning is the lesser.
function compare(a: Int32Array, b: Int32Array): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

function isPrefix(row: Int32Array, of: Int32Array): boolean {
  return row.length <= of.length && row.every((token, i) => token === of[i]);
}
