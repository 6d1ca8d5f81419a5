/** @internal The row that holds the element at a flat index; of offsets that never fall. */
export function rowAt(offsets: Int32Array, index: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (offsets[middle]! <= index) low = middle;
    else high = middle;
  }
  return low;
}
