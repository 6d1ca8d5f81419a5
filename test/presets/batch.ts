// Small padded batches for the preset tests.

/** Rows of one width; `null` is a place outside the mask that holds 0. */
export function batchOf(...rows: (number | null)[][]) {
  const values = Float64Array.from(rows.flat(), (value) => value ?? 0);
  const responseMask = Uint8Array.from(rows.flat(), (value) => (value === null ? 0 : 1));
  return { shape: { rows: rows.length, width: rows[0]!.length, responseMask }, values };
}

/** A batch of one row per value, one token each. */
export function column(...values: number[]) {
  return batchOf(...values.map((value) => [value]));
}

/** Policy batch of one-token rows from ratios and advantages. */
export function ratios(...pairs: [ratio: number, advantage: number][]) {
  const { shape } = column(...pairs.map(() => 1));
  return {
    ...shape,
    oldLogProbs: new Float64Array(pairs.length),
    logProbs: Float64Array.from(pairs, ([ratio]) => Math.log(ratio)),
    advantages: Float64Array.from(pairs, ([, advantage]) => advantage),
  };
}

/** Process rewards at their tokens, in rows of `width` whose first `lengths[i]` tokens count. */
export function processRewards(
  width: number,
  ...rows: { length: number; rewards: Record<number, number> }[]
) {
  const responseMask = new Uint8Array(rows.length * width);
  const rewards = new Float64Array(rows.length * width);
  const stepEndMask = new Uint8Array(rows.length * width);
  rows.forEach((row, i) => {
    responseMask.fill(1, i * width, i * width + row.length);
    for (const [at, reward] of Object.entries(row.rewards)) {
      rewards[i * width + Number(at)] = reward;
      stepEndMask[i * width + Number(at)] = 1;
    }
  });
  return { shape: { rows: rows.length, width, responseMask }, rewards, stepEndMask };
}
