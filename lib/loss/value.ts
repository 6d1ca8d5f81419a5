import { launch } from "../cuda/launch.ts";
import type { PlacedValue } from "../cuda/value.ts";
import { addon } from "../load.ts";
import type { FloatArray, Mask, Owned, Ragged, Values } from "../ragged.ts";
import { ArgumentError } from "../errors.ts";
import { assertLike, assertRaggedValues, checkMask, outputLike } from "../placed-values.ts";
import { assertNumber } from "../validate.ts";
import {
  type AggregatedLoss,
  type AggregationOptions,
  aggregated,
  aggregationArguments,
  assertLossStatus,
  assertObject,
  meanOf,
  valuesOf,
  SLOT,
} from "./aggregation.ts";

/** What {@link valueLoss} reads, in one dtype. Finite. */
export interface ValueBatch<T extends Values> {
  /** Predictions of the value function that is trained. */
  values: Ragged<T>;
  /** Predictions before the update; needed with `clipRange`. */
  oldValues?: Ragged<T>;
  /** Regression targets. */
  returns: Ragged<T>;
  /** One per token: 0 leaves the token out. */
  mask?: Mask;
}

/** Options of {@link valueLoss}. */
export interface ValueLossOptions<T extends Values = FloatArray> extends AggregationOptions {
  /** epsilon >= 0: how far a prediction may leave the old one, in units of the values. Default: no clipping. */
  clipRange?: number;
  /** Reused for the gradient; one value per token. */
  out?: T;
}

/** Statistics of {@link valueLoss} over counted tokens; 0 for an empty batch. */
export interface ValueStats {
  /** Counted tokens. */
  readonly tokens: number;
  /** Share of tokens whose loss is the clipped term, strictly. */
  readonly clipFraction: number;
  /** Mean of v - R. */
  readonly meanError: number;
  /** Mean of (v - R)^2, unclipped. */
  readonly meanSquaredError: number;
}

/** Result of {@link valueLoss}. */
export interface ValueLoss<T extends Values> extends AggregatedLoss<T> {
  /** d `loss` / d `values`. Exactly +0 where the mask is 0. */
  readonly gradValues: Ragged<Owned<T>>;
  /** Statistics over the counted tokens. */
  readonly stats: PlacedValue<T, ValueStats>;
}

const TALLY = { error: 6, squaredError: 7, clipped: 8 } as const;

/**
 * Squared error of a value function, with PPO's clipping when `clipRange` is given:
 * `loss = (1/2) max((v - R)^2, (clip(v, v_old - epsilon, v_old + epsilon) - R)^2)` per token.
 *
 * Gradient: `v - R` where the first term is the loss, else 0. At an exact tie the gradient of the unclipped term flows:
 * `v - R` (a framework that splits ties gives half of it). Computed in float64 for both dtypes.
 *
 * Source: the PPO reference implementation (openai/baselines, ppo2).
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` for a counted value or return that is not finite
 */
export function valueLoss<T extends Values>(
  batch: ValueBatch<T>,
  options: ValueLossOptions<T> = {},
): ValueLoss<T> {
  assertObject(batch, "batch");
  const { values, oldValues, returns, mask } = batch;
  const { clipRange, out } = options;
  assertRaggedValues(values, "values");
  assertLike(returns, "returns", values, "values");
  if (oldValues !== undefined) assertLike(oldValues, "oldValues", values, "values");
  if (clipRange !== undefined) {
    assertNumber(clipRange, "clipRange", { low: 0 });
    if (oldValues === undefined) {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        "oldValues: expected values with clipRange, got undefined",
      );
    }
  }
  const old = clipRange === undefined ? undefined : oldValues?.data;
  const { data, offsets } = values;
  const how = aggregationArguments(options, offsets.length - 1, data);
  const gradient = outputLike(out, data, data.length, "out", "values.data");
  const status = launch(
    "valueLoss",
    addon().loss.valueLoss,
    clipRange ?? 0,
    data,
    offsets,
    old ?? null,
    returns.data,
    checkMask(mask, "mask", data.length, data),
    ...how,
    gradient,
  );
  const suspects = { values: data, oldValues: old, returns: returns.data };
  assertLossStatus(status, offsets, { tokens: suspects }, options.promptTokens);
  return {
    ...valuesOf<T, typeof aggregated & { stats: typeof valueStats }>(how[4], {
      ...aggregated,
      stats: valueStats,
    }),
    gradValues: { data: gradient, offsets },
  };
}

function valueStats(slots: Float64Array): ValueStats {
  const tokens = slots[SLOT.tokens]!;
  return {
    tokens,
    clipFraction: meanOf(slots[TALLY.clipped]!, tokens),
    meanError: meanOf(slots[TALLY.error]!, tokens),
    meanSquaredError: meanOf(slots[TALLY.squaredError]!, tokens),
  };
}
