import { ArgumentError } from "../errors.ts";
import type { FloatArray, Values } from "../ragged.ts";
import { assertNumber } from "../validate.ts";
import {
  type LossOptions,
  type LossResult,
  type PolicyBatch,
  type PolicyStats,
  ratioLoss,
} from "./policy.ts";

/** How far a ratio may leave 1 before its term is clipped. */
export interface ClipOptions {
  /** epsilon of both sides. Default 0.2. */
  clipRatio?: number;
  /** epsilon below 1, in [0, 1]. Default `clipRatio`. */
  clipRatioLow?: number;
  /** epsilon above 1, >= 0; larger than below for clip-higher. Default `clipRatio`. */
  clipRatioHigh?: number;
}

/** Options of {@link ppoLoss}. */
export interface PpoLossOptions<T extends Values = FloatArray> extends LossOptions<T>, ClipOptions {
  /** c > 1: for A < 0 the loss is at most -c A. Default: none. */
  dualClip?: number;
  /** delta > 1 + epsilon above: for A < 0 the ratio of the unclipped term is at most this. Default: none. */
  maxRatio?: number;
}

/** @internal Validated epsilons; `lowest` is how far a ratio can be below 1. */
export function epsilons(
  { clipRatio = 0.2, clipRatioLow, clipRatioHigh }: ClipOptions,
  lowest = 1,
): Epsilons {
  assertNumber(clipRatio, "clipRatio", { low: 0 });
  const below = clipRatioLow ?? clipRatio;
  const above = clipRatioHigh ?? clipRatio;
  assertNumber(below, clipRatioLow === undefined ? "clipRatio" : "clipRatioLow", { low: 0, high: lowest });
  assertNumber(above, "clipRatioHigh", { low: 0 });
  return { below, above };
}

/** @internal Distances of the bounds from 1 (from 0 in log space). */
export interface Epsilons {
  below: number;
  above: number;
}

/**
 * PPO's clipped surrogate with its variants. Per token, with d = logProbs - oldLogProbs clamped to +- `logRatioClamp`
 * and rho = exp(d):
 *
 * `loss = max(-A rho, -A clip(rho, 1 - epsilon_low, 1 + epsilon_high))`;
 * with `maxRatio` delta, for A < 0, `min(rho, delta)` stands in the first term;
 * with `dualClip` c, for A < 0, `loss = min(loss, -c A)`.
 *
 * Gradient with respect to a log-prob: `-A rho` where the first term is the loss, else 0. At an exact tie the gradient
 * of the unclipped term flows: at rho = 1 +- epsilon (bounds inclusive), at rho = delta and at rho = c it is `-A rho`.
 * A token whose log-ratio is clamped has a constant ratio: its gradient is 0, and `clampedTokens` counts it.
 *
 * float32: each token within 1e-6 (1 + |d|) of float64, relative; sums accumulate in float64.
 *
 * Sources: PPO arXiv 1707.06347; dual clip arXiv 1912.09729; clip-higher (DAPO) arXiv 2503.14476; two-sided
 * (INTELLECT-2) arXiv 2505.07291.
 *
 * @param batch - log-probs, old log-probs and advantages, with optional mask and importance weights
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` for a counted token with a NaN log-prob, (-Infinity) - (-Infinity) as log-ratio, or an advantage or
 * weight that is not finite, naming row and position
 */
export function ppoLoss<T extends Values>(
  batch: PolicyBatch<T>,
  options: PpoLossOptions<T> = {},
): LossResult<T, PolicyStats> {
  const { below, above } = epsilons(options);
  const { dualClip, maxRatio } = options;
  if (dualClip !== undefined) assertNumber(dualClip, "dualClip", { low: 1, open: true });
  if (maxRatio !== undefined) {
    assertNumber(maxRatio, "maxRatio");
    if (maxRatio <= 1 + above) {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `maxRatio: expected more than 1 + clipRatioHigh = ${1 + above}, got ${maxRatio}`,
      );
    }
  }
  return ratioLoss(
    "ppo",
    batch,
    { low: 1 - below, high: 1 + above, ...(dualClip && { dualClip }), ...(maxRatio && { maxRatio }) },
    options,
  );
}
