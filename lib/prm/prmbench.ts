import { z } from "zod";
import { InputError } from "../errors.ts";
import { assertNumber } from "../validate.ts";
import { checkScores } from "./processbench.ts";

const raw = z.looseObject({
  idx: z.string(),
  original_question: z.string(),
  modified_question: z.string(),
  original_process: z.array(z.string()).min(1),
  modified_process: z.array(z.string()).min(1),
  /** 1-based. */
  error_steps: z.array(z.int().min(1)),
  classification: z.string(),
});

/** One solution to score. */
export interface PrmBenchRow {
  /** Class and index, unique. */
  readonly id: string;
  /** The question. */
  readonly question: string;
  /** The steps of the solution. */
  readonly steps: readonly string[];
  /** 0-based indices of the wrong steps. */
  readonly errors: readonly number[];
  /** Class in the dataset's spelling ("redundency"), `"correct"` for an unmodified solution. */
  readonly classification: string;
}

/**
 * The solutions of PRMBench's own JSONL rows: the modified process of each, and the original process of the
 * redundancy class as correct solutions. `error_steps` is 1-based in the file and 0-based here; an index past the last
 * step (there are some) is kept and matches no step.
 *
 * @throws {@link InputError} `ERR_INPUT` naming file, row and field
 */
export function parsePrmBench(rows: readonly unknown[], file = "PRMBench file"): PrmBenchRow[] {
  const out = new Map<string, PrmBenchRow>();
  const add = (entry: PrmBenchRow): void => {
    if (!out.has(entry.id)) out.set(entry.id, entry);
  };
  rows.forEach((value, i) => {
    const result = raw.safeParse(value);
    const issue = result.error?.issues[0];
    if (issue)
      throw new InputError("ERR_INPUT", `${file}: row ${i + 1}: ${issue.path.join(".")}: ${issue.message}`);
    const entry = result.data!;
    if (entry.classification === "redundency") {
      add({
        id: `correct_${entry.idx}`,
        question: entry.original_question,
        steps: entry.original_process,
        errors: [],
        classification: "correct",
      });
    }
    add({
      id: `${entry.classification}_${entry.idx}`,
      question: entry.modified_question,
      steps: entry.modified_process,
      errors: entry.error_steps.map((step) => step - 1),
      classification: entry.classification,
    });
  });
  return [...out.values()];
}

/** Counts of steps: right ones called right (tp) or wrong (fn), wrong ones called right (fp) or wrong (tn). */
export interface StepCounts {
  /** Right steps called right. */
  readonly tp: number;
  /** Wrong steps called right. */
  readonly fp: number;
  /** Wrong steps called wrong. */
  readonly tn: number;
  /** Right steps called wrong. */
  readonly fn: number;
}

/** PRMBench's metrics over some steps, in [0, 1]; NaN where nothing of the kind occurs. */
export interface PrmBenchMetrics {
  /** The four counts. */
  readonly counts: StepCounts;
  /** F1 of calling right steps right. */
  readonly f1: number;
  /** F1 of calling wrong steps wrong. */
  readonly negativeF1: number;
  /** 0.5 f1 + 0.5 negativeF1; for solutions without wrong steps (`multi_solutions`, `correct`) f1 alone. */
  readonly prmScore: number;
  /** Share of solutions with a wrong step in which the first one was called wrong. */
  readonly firstErrorAccuracy: number;
}

/** PRMBench by class. */
export interface PrmBenchResult {
  /** Threshold that the numbers hold for. */
  readonly threshold: number;
  /** Threshold of the redundancy and circular classes, where it differs. */
  readonly redundancyThreshold: number;
  /** Over all modified solutions; correct ones count only for themselves, as in the benchmark. */
  readonly total: PrmBenchMetrics;
  /** By class, in the spelling of the dataset. */
  readonly classes: Readonly<Record<string, PrmBenchMetrics>>;
}

/**
 * PRMBench on step scores: a step is called right when its score exceeds the threshold. A step without a score (NaN) is
 * called nothing and counts nowhere: report how many there are.
 *
 * @param threshold - 0.5 for probabilities, 0 for signed scores
 * @param options - `redundancyThreshold` applies to the classes "redundency" and "circular", where the benchmark lets a
 * model use another one (0.15); default: the same threshold
 * @throws {@link ArgumentError} `ERR_SHAPE` when a row has not one score per step
 */
export function evaluatePrmBench(
  rows: readonly PrmBenchRow[],
  scores: readonly ArrayLike<number>[],
  threshold: number,
  options: { redundancyThreshold?: number } = {},
): PrmBenchResult {
  const { redundancyThreshold = threshold } = options;
  assertNumber(threshold, "threshold");
  assertNumber(redundancyThreshold, "redundancyThreshold");
  checkScores(rows, scores);
  const tallies = new Map<string, Tally>();
  const total = new Tally();
  rows.forEach((entry, i) => {
    const own = ["redundency", "circular"].includes(entry.classification) ? redundancyThreshold : threshold;
    const right = Array.from(scores[i]!, (score) => (Number.isNaN(score) ? undefined : score > own));
    const tally = tallies.get(entry.classification) ?? new Tally();
    tallies.set(entry.classification, tally);
    tally.add(entry, right);
    if (entry.classification !== "correct") total.add(entry, right);
  });
  return {
    threshold,
    redundancyThreshold,
    total: total.metrics(),
    classes: Object.fromEntries([...tallies].map(([name, tally]) => [name, tally.metrics()])),
  };
}

class Tally {
  #tp = 0;
  #fp = 0;
  #tn = 0;
  #fn = 0;
  #first = 0;
  #withErrors = 0;

  add(entry: PrmBenchRow, right: readonly (boolean | undefined)[]): void {
    const errors = new Set(entry.errors);
    right.forEach((called, k) => {
      if (called === undefined) return;
      if (errors.has(k)) called ? this.#fp++ : this.#tn++;
      else called ? this.#tp++ : this.#fn++;
    });
    const first = entry.errors.length === 0 ? -1 : Math.min(...entry.errors);
    if (right[first] === undefined) return;
    this.#withErrors++;
    if (!right[first]) this.#first++;
  }

  metrics(): PrmBenchMetrics {
    const [tp, fp, tn, fn] = [this.#tp, this.#fp, this.#tn, this.#fn];
    const positive = f1(tp, fp, fn);
    const negative = f1(tn, fn, fp);
    return {
      counts: { tp, fp, tn, fn },
      f1: positive,
      negativeF1: negative,
      prmScore: fp + tn === 0 ? positive : 0.5 * positive + 0.5 * negative,
      firstErrorAccuracy: this.#first / this.#withErrors,
    };
  }
}

// 2 TP / (2 TP + FP + FN): precision and recall without their division by zero.
function f1(hits: number, wrong: number, missed: number): number {
  return (2 * hits) / (2 * hits + wrong + missed);
}
