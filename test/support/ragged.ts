/** Rows of integers as a ragged batch. */
export function ints(rows: readonly (readonly number[])[]): { data: Int32Array; offsets: Int32Array } {
  const offsets = new Int32Array(rows.length + 1);
  for (const [i, row] of rows.entries()) offsets[i + 1] = offsets[i]! + row.length;
  return { data: Int32Array.from(rows.flat()), offsets };
}
