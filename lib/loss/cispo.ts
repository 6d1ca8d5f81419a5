import { ArgumentError } from "../errors.ts";
import type { FloatArray, Values } from "../ragged.ts";
import { assertNumber, assertOneOf } from "../validate.ts";
import {
  type LossOptions,
  type LossResult,
  type PolicyBatch,
  type PolicyStats,
  ratioLoss,
} from "./policy.ts";
import { type ClipOptions, epsilons } from "./ppo.ts";

/** Options of {@link cispoLoss}: the bounds of the weight, as distances from 1 or as they are. */
export type CispoLossOptions<T extends Values = FloatArray> = LossOptions<T> &
  (
    | ({
        /** `"offset"` (default): the weight is clipped to `[1 - clipRatioLow, 1 + clipRatioHigh]`. */
        bounds?: "offset";
      } & ClipOptions)
    | {
        /** `"absolute"`: the weight is clipped to `[clipRatioLow, clipRatioHigh]`. */
        bounds: "absolute";
        /** Lowest weight, >= 0. Default 0. */
        clipRatioLow?: number;
        /** Highest weight, e.g. 5; has no default. */
        clipRatioHigh: number;
      }
  );

/**
 * CISPO: REINFORCE with a clipped, detached importance weight: `loss = -sg[clip(rho, low, high)] A logProb`, gradient
 * `-clip(rho, low, high) A` for *every* counted token, clipped or clamped: the weight is a constant. The same epsilon
 * means different things in different implementations, so `bounds` names it: at rho = 2, `clipRatioHigh` 0.28 is a
 * weight of 1.28 as `"offset"` and of 0.28 as `"absolute"`.
 *
 * A log-prob beyond +-1e4 counts as +-1e4 in the value (the loss stays finite at -Infinity), not in the gradient; such
 * tokens are in `clampedTokens`. `clipFraction` is the share of weights at a bound.
 *
 * Sources: MiniMax-M1 arXiv 2506.13585; absolute bounds as in ScaleRL arXiv 2510.13786.
 *
 * @throws as {@link ppoLoss}
 */
export function cispoLoss<T extends Values>(
  batch: PolicyBatch<T>,
  options: CispoLossOptions<T> = {},
): LossResult<T, PolicyStats> {
  assertOneOf(options.bounds ?? "offset", "bounds", ["offset", "absolute"]);
  if (options.bounds !== "absolute") {
    const { below, above } = epsilons(options);
    return ratioLoss("cispo", batch, { low: 1 - below, high: 1 + above }, options);
  }
  const { clipRatioLow: low = 0, clipRatioHigh: high } = options;
  assertNumber(low, "clipRatioLow", { low: 0 });
  assertNumber(high, "clipRatioHigh", { low: 0, open: true });
  if (low > high) {
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `clipRatioLow: expected at most ${high}, got ${low}`);
  }
  return ratioLoss("cispo", batch, { low, high }, options);
}
