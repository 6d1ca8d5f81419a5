import { ArgumentError, PrmError } from "../errors.ts";
import { assertNumber, assertOneOf } from "../validate.ts";
import { type ScoreRange, sigmoid, type StepScores } from "./range.ts";

/** Ways to make one score of a solution from its steps' scores. */
export const aggregators = ["min", "product", "mean", "last", "max", "soft-min", "log-odds-mean"] as const;

/** One of {@link aggregators}. */
export type Aggregator = (typeof aggregators)[number];

// Where each one means something. The minimum and the product of signed scores do not: -0.9 x -0.9 is not good.
const accepts: Record<Aggregator, readonly ScoreRange[]> = {
  min: ["probability"],
  product: ["probability"],
  "log-odds-mean": ["probability"],
  "soft-min": ["probability", "signed"],
  mean: ["probability", "signed", "unbounded"],
  last: ["probability", "signed", "unbounded"],
  max: ["probability", "signed", "unbounded"],
};

/** Aggregators that are defined on scores of a range; others do not type-check. */
export type AggregatorFor<R extends ScoreRange> = R extends "probability"
  ? Aggregator
  : R extends "signed"
    ? "soft-min" | "mean" | "last" | "max"
    : "mean" | "last" | "max";

/** Options of {@link aggregate}. */
export interface AggregateOptions {
  /** T of `soft-min`, > 0; default 0.1 as in PURE. */
  temperature?: number;
  /** Steps without a score: `"nan"` (default) makes the whole NaN, `"skip"` leaves them out, `"error"` throws. */
  unscored?: "nan" | "skip" | "error";
}

/**
 * One score of a solution.
 *
 * - `min`, `product`: of probabilities only. A product falls with every step: ten steps of 0.95 give 0.599, three of 0.9
 *   give 0.729; their minima are 0.95 and 0.9.
 * - `mean`, `last`, `max`: of any range.
 * - `soft-min`: sum of softmax(-r / T) r, PURE's form (of signed scores or probabilities); tends to the minimum for
 *   T -> 0.
 * - `log-odds-mean`: sigmoid of the mean of log(p / (1 - p)); p is kept 2^-53 away from 0 and 1.
 *
 * @throws {@link PrmError} `ERR_SCORE_RANGE` when the aggregator has no meaning on the scores' range: convert first with
 * {@link toProbability}; also for a step without a score under `unscored: "error"`
 * @throws {@link ArgumentError} `ERR_SHAPE` for no steps, `ERR_ARGUMENT_VALUE`
 */
export function aggregate<R extends ScoreRange>(
  scores: StepScores<R>,
  how: AggregatorFor<NoInfer<R>>,
  options: AggregateOptions = {},
): number {
  assertAggregator(how, scores.range);
  const { temperature = 0.1, unscored = "nan" } = options;
  assertNumber(temperature, "temperature", { low: 0, open: true });
  assertOneOf(unscored, "unscored", ["nan", "skip", "error"]);
  if (scores.values.length === 0)
    throw new ArgumentError("ERR_SHAPE", "scores: expected at least one step, got none");
  const values = Array.from(scores.values).filter((value) => !Number.isNaN(value));
  if (values.length < scores.values.length) {
    if (unscored === "error") {
      throw new PrmError(
        "ERR_SCORE_RANGE",
        `scores: expected every step to have a score, ${scores.values.length - values.length} of ${scores.values.length} have none`,
      );
    }
    if (unscored === "nan" || values.length === 0) return Number.NaN;
  }
  return reduce[how](values, temperature);
}

/**
 * Checks that an aggregator is defined on a range.
 *
 * @throws {@link PrmError} `ERR_SCORE_RANGE`; {@link ArgumentError} `ERR_ARGUMENT_VALUE` for an unknown name
 */
export function assertAggregator(how: unknown, range: ScoreRange): asserts how is Aggregator {
  assertOneOf(how, "aggregate", aggregators);
  if (accepts[how].includes(range)) return;
  throw new PrmError(
    "ERR_SCORE_RANGE",
    `aggregate: ${how} needs ${accepts[how].join(" or ")} scores, these are ${range}${range === "signed" ? "; convert them with toProbability first" : ""}`,
  );
}

const reduce: Record<Aggregator, (values: readonly number[], temperature: number) => number> = {
  min: (values) => values.reduce((a, b) => Math.min(a, b)),
  max: (values) => values.reduce((a, b) => Math.max(a, b)),
  product: (values) => values.reduce((a, b) => a * b, 1),
  mean,
  last: (values) => values.at(-1)!,
  "soft-min": (values, temperature) => {
    const least = values.reduce((a, b) => Math.min(a, b));
    let weights = 0;
    let sum = 0;
    for (const value of values) {
      const weight = Math.exp(-(value - least) / temperature);
      weights += weight;
      sum += weight * value;
    }
    return sum / weights;
  },
  "log-odds-mean": (values) =>
    sigmoid(
      mean(
        values.map((p) => {
          const q = Math.min(Math.max(p, edge), 1 - edge);
          return Math.log(q) - Math.log1p(-q);
        }),
      ),
    ),
};

const edge = 2 ** -53;

function mean(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}
