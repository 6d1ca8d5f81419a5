// The repetition score by sorting all suffixes with plain comparisons: O(n^2 log n), for short inputs.

/** 2 sum(LCP) / (n (n + 1)) over the sorted suffixes. */
export function repetitionScore(ids: readonly number[]): number {
  const n = ids.length;
  if (n <= 1) return 0;
  const common = (i: number, j: number) => {
    let length = 0;
    while (i + length < n && j + length < n && ids[i + length] === ids[j + length]) length++;
    return length;
  };
  const suffixes = ids
    .map((_, i) => i)
    .sort((i, j) => {
      const length = common(i, j);
      return (ids[i + length] ?? -1) - (ids[j + length] ?? -1);
    });
  let sum = 0;
  for (let k = 1; k < n; k++) sum += common(suffixes[k - 1]!, suffixes[k]!);
  return (2 * sum) / (n * (n + 1));
}
