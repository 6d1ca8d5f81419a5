import { PrmError } from "../errors.ts";

/**
 * What a score means: `"probability"` in [0, 1], `"signed"` in [-1, 1] (PURE: P(good) - P(bad)), `"unbounded"` (log-ratios,
 * raw value heads).
 */
export type ScoreRange = "probability" | "signed" | "unbounded";

/** Scores of the steps of one solution, with the range that says what may be done with them. */
export interface StepScores<R extends ScoreRange = ScoreRange> {
  /** What the values mean. */
  readonly range: R;
  /** One per step, in order; NaN for a step that was not scored (it lies past the model's context). */
  readonly values: Float64Array;
}

const bounds: Record<ScoreRange, readonly [number, number]> = {
  probability: [0, 1],
  signed: [-1, 1],
  unbounded: [-Infinity, Infinity],
};

/**
 * Scores from plain numbers, checked against their range.
 *
 * @param values - one per step; NaN or null marks a step without a score
 * @throws {@link PrmError} `ERR_SCORE_RANGE` for a value outside the range
 */
export function stepScores<R extends ScoreRange>(values: ArrayLike<number | null>, range: R): StepScores<R> {
  if (!(range in bounds)) {
    throw new PrmError(
      "ERR_SCORE_RANGE",
      `range: expected ${Object.keys(bounds).join(", ")}, got ${String(range)}`,
    );
  }
  const [low, high] = bounds[range];
  const out = Float64Array.from(values, (value, k) => {
    if (value === null || Number.isNaN(value)) return Number.NaN;
    if (typeof value !== "number" || value < low || value > high) {
      throw new PrmError(
        "ERR_SCORE_RANGE",
        `values[${k}]: expected a score in [${low}, ${high}] (${range}), got ${value}`,
      );
    }
    return value;
  });
  return { range, values: out };
}

/**
 * The same judgements as probabilities. Signed scores become (r + 1) / 2, the probability of "good" that they came
 * from; probabilities stay; unbounded scores go through the logistic function only when `unbounded: "sigmoid"` says
 * that they are logits.
 *
 * @throws {@link PrmError} `ERR_SCORE_RANGE` for unbounded scores without that option
 */
export function toProbability(
  scores: StepScores,
  options: { unbounded?: "error" | "sigmoid" } = {},
): StepScores<"probability"> {
  if (scores.range === "probability") return scores as StepScores<"probability">;
  if (scores.range === "signed")
    return { range: "probability", values: scores.values.map((r) => (r + 1) / 2) };
  if (options.unbounded !== "sigmoid") {
    throw new PrmError(
      "ERR_SCORE_RANGE",
      'scores: expected signed scores or probabilities, got unbounded ones; pass { unbounded: "sigmoid" } if they are logits',
    );
  }
  return { range: "probability", values: scores.values.map(sigmoid) };
}

/** @internal 1 / (1 + exp(-x)) without overflow. */
export function sigmoid(x: number): number {
  if (x >= 0) return 1 / (1 + Math.exp(-x));
  const e = Math.exp(x);
  return e / (1 + e);
}
