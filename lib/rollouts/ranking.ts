/** A point of a ROC curve. */
export type RocPoint = readonly [falsePositives: number, truePositives: number];

/** @internal Scores of right and of wrong answers. */
export interface Separation {
  readonly right: Float64Array;
  readonly wrong: Float64Array;
}

const RESOLUTION = 1e6;

/** @internal Outcomes compare as multiples of 1e-6: rounding noise of a soft minimum does not decide a rank. */
export function comparable(score: number): number {
  return Math.round(score * RESOLUTION) / RESOLUTION;
}

/** @internal Splits scores, made {@link comparable}, by whether the answer is right; NaN (not known) is left out. */
export function separate(scores: ArrayLike<number>, correct: ArrayLike<number>): Separation {
  const pick = (wanted: number) =>
    Float64Array.from(
      Array.from(scores)
        .filter((_, i) => correct[i] === wanted)
        .map(comparable),
    ).sort();
  return { right: pick(1), wrong: pick(0) };
}

/**
 * @internal Area under the ROC curve: the chance that a right answer scores above a wrong one, a tie counting half;
 * NaN when either kind is missing.
 */
export function rocArea({ right, wrong }: Separation): number {
  let below = 0;
  let upTo = 0;
  let wins = 0;
  for (const score of right) {
    while (below < wrong.length && wrong[below]! < score) below += 1;
    while (upTo < wrong.length && wrong[upTo]! <= score) upTo += 1;
    wins += (below + upTo) / 2;
  }
  return wins / (right.length * wrong.length);
}

/** @internal The ROC curve from (0, 0) to (1, 1), at `points` evenly spread ranks at most; empty when a kind is missing. */
export function rocCurve({ right, wrong }: Separation, points = 100): RocPoint[] {
  if (right.length === 0 || wrong.length === 0) return [];
  const thresholds = Float64Array.from([...new Set([...right, ...wrong])])
    .sort()
    .reverse();
  const stride = Math.max(1, Math.ceil(thresholds.length / points));
  const curve: RocPoint[] = [[0, 0]];
  thresholds.forEach((threshold, i) => {
    if ((i + 1) % stride !== 0 && i + 1 < thresholds.length) return;
    curve.push([shareFrom(wrong, threshold), shareFrom(right, threshold)]);
  });
  return curve;
}

// Share of the sorted values that are at least the threshold.
function shareFrom(sorted: Float64Array, threshold: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < threshold) low = middle + 1;
    else high = middle;
  }
  return (sorted.length - low) / sorted.length;
}

/** Outcomes in `[from, to)`, the last bin with its end. */
export interface HistogramBin {
  /** Lower edge, included. */
  readonly from: number;
  /** Upper edge; included in the last bin only. */
  readonly to: number;
  /** Right answers in it. */
  readonly right: number;
  /** Wrong answers in it. */
  readonly wrong: number;
}

/** @internal Right and wrong answers by score, in bins of one width; empty when nothing is known. */
export function histogram({ right, wrong }: Separation, bins = 24): HistogramBin[] {
  const low = Math.min(right[0] ?? Number.POSITIVE_INFINITY, wrong[0] ?? Number.POSITIVE_INFINITY);
  const high = Math.max(right.at(-1) ?? Number.NEGATIVE_INFINITY, wrong.at(-1) ?? Number.NEGATIVE_INFINITY);
  if (low > high) return [];
  const width = (high - low) / bins || 1;
  const counts = (values: Float64Array) => {
    const found = new Array<number>(bins).fill(0);
    for (const value of values) found[Math.min(bins - 1, Math.floor((value - low) / width))]! += 1;
    return found;
  };
  const [rights, wrongs] = [counts(right), counts(wrong)];
  return rights.map((count, bin) => ({
    from: low + bin * width,
    to: low + (bin + 1) * width,
    right: count,
    wrong: wrongs[bin]!,
  }));
}
