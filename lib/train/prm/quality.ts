import { firstError, processBenchMetrics } from "../../prm/processbench.ts";
import type { StepScorer } from "./scorer.ts";
import type { EncodedSolution } from "./solutions.ts";

/**
 * Quality of a PRM on held-out solutions; a step counts as wrong below a reward of 0. `null` where there is nothing to
 * measure by: no wrong solution, no right one, no step after an error.
 */
export interface PrmQuality {
  /** Share of labelled steps judged rightly. */
  readonly accuracy: number | null;
  /** ProcessBench: harmonic mean of the next two. */
  readonly f1: number | null;
  /** Share of wrong solutions whose first wrong step was named exactly. */
  readonly errors: number | null;
  /** Share of right solutions in which no step was called wrong. */
  readonly correct: number | null;
  /** Mean reward of steps after the first wrong one: what a sum collects and a minimum does not. */
  readonly afterError: number | null;
}

const THRESHOLD = 0;

/** @internal Measures a scorer on labelled solutions. */
export async function measurePrm(scorer: StepScorer, rows: readonly EncodedSolution[]): Promise<PrmQuality> {
  const { data, offsets } = await scorer.score(rows);
  const steps = { right: 0, all: 0 };
  const after = { sum: 0, all: 0 };
  const [labels, predictions]: [number[], number[]] = [[], []];
  rows.forEach((row, i) => {
    const scores = data.subarray(offsets[i], offsets[i + 1]);
    const first = row.labels.indexOf(false);
    row.labels.forEach((label, k) => {
      if (label === null) {
        if (first < 0 || k < first) return;
        after.sum += scores[k]!;
        after.all++;
        return;
      }
      steps.all++;
      if (scores[k]! >= THRESHOLD === label) steps.right++;
    });
    // Where a label before the first wrong step is missing, it is not known to be the first.
    if (row.labels.slice(0, first < 0 ? undefined : first).includes(null)) return;
    labels.push(first);
    predictions.push(firstError(scores, THRESHOLD));
  });
  const { f1, errorAccuracy, correctAccuracy } = processBenchMetrics(labels, predictions, THRESHOLD);
  const quality = {
    accuracy: steps.right / steps.all,
    f1,
    errors: errorAccuracy,
    correct: correctAccuracy,
    afterError: after.sum / after.all,
  };
  const known = Object.entries(quality).map(([name, value]) => [name, Number.isNaN(value) ? null : value]);
  return Object.fromEntries(known) as PrmQuality;
}
