import { z } from "zod";
import { ArgumentError, InputError } from "../errors.ts";
import { assertNumber } from "../validate.ts";

const row = z.looseObject({
  /** Id of the row. */
  id: z.string(),
  /** The question. */
  problem: z.string(),
  /** Steps of the solution. */
  steps: z.array(z.string()).min(1),
  /** 0-based index of the first wrong step, -1 for none. */
  label: z.int().min(-1),
});

/** A row of ProcessBench: `label` is the 0-based index of the first wrong step, -1 when there is none. */
export type ProcessBenchRow = z.output<typeof row>;

/**
 * Checks rows of ProcessBench's own files (`gsm8k.json`, `math.json`, ...).
 *
 * @throws {@link InputError} `ERR_INPUT` naming file, row and field
 */
export function parseProcessBench(value: unknown, file = "ProcessBench file"): ProcessBenchRow[] {
  if (!Array.isArray(value)) throw new InputError("ERR_INPUT", `${file}: expected an array of rows`);
  return value.map((entry, i) => {
    const result = row.safeParse(entry);
    const issue = result.error?.issues[0];
    if (issue)
      throw new InputError("ERR_INPUT", `${file}: row ${i}: ${issue.path.join(".")}: ${issue.message}`);
    const parsed = result.data!;
    if (parsed.label >= parsed.steps.length) {
      throw new InputError(
        "ERR_INPUT",
        `${file}: row ${i}: label: expected a step below ${parsed.steps.length} or -1, got ${parsed.label}`,
      );
    }
    return parsed;
  });
}

/**
 * Index of the first step whose score lies below the threshold, -1 when none does. A step without a score (NaN) is
 * taken as not below.
 */
export function firstError(scores: ArrayLike<number>, threshold: number): number {
  for (let k = 0; k < scores.length; k++) if (scores[k]! < threshold) return k;
  return -1;
}

/** ProcessBench's metrics, all in [0, 1]. */
export interface ProcessBenchResult {
  /** Threshold that they hold for; a number without it means nothing. */
  readonly threshold: number;
  /** Share of wrong solutions whose first wrong step was named exactly; NaN without wrong solutions. */
  readonly errorAccuracy: number;
  /** Share of right solutions in which no step was called wrong; NaN without right solutions. */
  readonly correctAccuracy: number;
  /** Harmonic mean of the two, 0 when both are 0. */
  readonly f1: number;
  /** Wrong and right solutions counted. */
  readonly counts: {
    /** Wrong solutions. */
    readonly error: number;
    /** Right solutions. */
    readonly correct: number;
  };
}

/**
 * Exact-match accuracies on wrong and right solutions and their harmonic mean: F1 = 2ab / (a + b).
 *
 * @param labels - index of the first wrong step, -1 for none
 * @param predictions - the same, predicted
 */
export function processBenchMetrics(
  labels: ArrayLike<number>,
  predictions: ArrayLike<number>,
  threshold: number,
): ProcessBenchResult {
  if (labels.length !== predictions.length)
    throw new ArgumentError("ERR_SHAPE", `predictions: expected ${labels.length}, got ${predictions.length}`);
  const hits = { error: 0, correct: 0 };
  const counts = { error: 0, correct: 0 };
  for (let i = 0; i < labels.length; i++) {
    const kind = labels[i] === -1 ? "correct" : "error";
    counts[kind]++;
    if (labels[i] === predictions[i]) hits[kind]++;
  }
  const errorAccuracy = hits.error / counts.error;
  const correctAccuracy = hits.correct / counts.correct;
  const sum = errorAccuracy + correctAccuracy;
  return {
    threshold,
    errorAccuracy,
    correctAccuracy,
    f1: sum === 0 ? 0 : (2 * errorAccuracy * correctAccuracy) / sum,
    counts,
  };
}

/**
 * ProcessBench on step scores.
 *
 * @param scores - scores of each row's steps
 * @param threshold - below it a step is wrong: 0.5 for probabilities, 0 for signed scores
 * @throws {@link ArgumentError} `ERR_SHAPE` when a row has not one score per step
 */
export function evaluateProcessBench(
  rows: readonly ProcessBenchRow[],
  scores: readonly ArrayLike<number>[],
  threshold: number,
): ProcessBenchResult {
  assertNumber(threshold, "threshold");
  checkScores(rows, scores);
  return processBenchMetrics(
    rows.map((entry) => entry.label),
    scores.map((steps) => firstError(steps, threshold)),
    threshold,
  );
}

/** @internal One score per step of each row. */
export function checkScores(
  rows: readonly { readonly steps: readonly string[] }[],
  scores: readonly ArrayLike<number>[],
): void {
  if (rows.length !== scores.length)
    throw new ArgumentError("ERR_SHAPE", `scores: expected ${rows.length} rows, got ${scores.length}`);
  rows.forEach((entry, i) => {
    if (scores[i]!.length !== entry.steps.length)
      throw new ArgumentError(
        "ERR_SHAPE",
        `scores[${i}]: expected ${entry.steps.length} scores, one per step, got ${scores[i]!.length}`,
      );
  });
}

/** What {@link sweepThresholds} found. */
export interface ThresholdSweep<R> {
  /** The result with the largest value; of equal ones, the smallest threshold. */
  readonly best: R;
  /** All results, by rising threshold. */
  readonly results: readonly R[];
}

/**
 * Evaluates at every threshold and picks the best. A threshold chosen on the data that it is reported on flatters the
 * model: choose it on other rows, and report it with every number.
 *
 * @param evaluate - for example `(t) => evaluateProcessBench(rows, scores, t)`
 * @param thresholds - default: every distinct score that could change a decision, thinned to 200
 * @param value - what to maximise; default `f1`
 */
export function sweepThresholds<
  R extends {
    /** The threshold that the result holds for. */
    readonly threshold: number;
  },
>(
  evaluate: (threshold: number) => R,
  thresholds: Iterable<number>,
  value: (result: R) => number = (result) => (result as unknown as { f1: number }).f1,
): ThresholdSweep<R> {
  const sorted = [...new Set(thresholds)].sort((a, b) => a - b);
  if (sorted.length === 0)
    throw new ArgumentError("ERR_SHAPE", "thresholds: expected at least one, got none");
  const results = sorted.map(evaluate);
  let best = results[0]!;
  for (const result of results) if (value(result) > value(best)) best = result;
  return { best, results };
}

/**
 * Thresholds worth trying: midpoints between neighbouring distinct scores and one beyond each end, thinned evenly to
 * `limit`.
 */
export function candidateThresholds(scores: readonly ArrayLike<number>[], limit = 200): number[] {
  const distinct = [...new Set(scores.flatMap((steps) => Array.from(steps)))]
    .filter((score) => Number.isFinite(score))
    .sort((a, b) => a - b);
  if (distinct.length === 0) return [0];
  const all = [
    distinct[0]!,
    ...distinct.slice(1).map((score, i) => (distinct[i]! + score) / 2),
    distinct.at(-1)! + Math.max(1e-9, Math.abs(distinct.at(-1)!) * 1e-9),
  ];
  if (all.length <= limit) return all;
  return Array.from({ length: limit }, (_, i) => all[Math.round((i * (all.length - 1)) / (limit - 1))]!);
}
