import { launch } from "../cuda/launch.ts";
import type { PlacedValue } from "../cuda/value.ts";
import { addon } from "../load.ts";
import type { FloatArray, Mask, Owned, Ragged, Values } from "../ragged.ts";
import { assertRaggedValues, checkMask, outputLike } from "../placed-values.ts";
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

/** What {@link entropyBonus} reads. */
export interface EntropyBatch<T extends Values> {
  /** Entropy of the policy at each token, in nats. Finite. */
  entropy: Ragged<T>;
  /** One per token: 0 leaves the token out. */
  mask?: Mask;
}

/** Options of {@link entropyBonus}. */
export interface EntropyBonusOptions<T extends Values = FloatArray> extends AggregationOptions {
  /** Reused for the gradient; one value per token. */
  out?: T;
}

/** Statistics of {@link entropyBonus} over counted tokens; 0 for an empty batch. */
export interface EntropyStats {
  /** Counted tokens. */
  readonly tokens: number;
  /** Mean entropy per token, whatever the aggregation. */
  readonly meanEntropy: number;
}

/** Result of {@link entropyBonus}. */
export interface EntropyBonus<T extends Values> extends AggregatedLoss<T> {
  /** d `loss` / d `entropy`: minus the token's weight in the aggregation. Exactly +0 where the mask is 0. */
  readonly gradEntropy: Ragged<Owned<T>>;
  /** Statistics over the counted tokens. */
  readonly stats: PlacedValue<T, EntropyStats>;
}

/**
 * Entropy bonus as a loss to minimise: `loss = -aggregate(H)`, aggregated like the policy loss. Multiply by the
 * coefficient, and hand `gradEntropy` to the backward pass of the log-probs.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` for a counted entropy that is not finite
 */
export function entropyBonus<T extends Values>(
  batch: EntropyBatch<T>,
  options: EntropyBonusOptions<T> = {},
): EntropyBonus<T> {
  assertObject(batch, "batch");
  const { entropy, mask } = batch;
  assertRaggedValues(entropy, "entropy");
  const { data, offsets } = entropy;
  const how = aggregationArguments(options, offsets.length - 1, data);
  const gradient = outputLike(options.out, data, data.length, "out", "entropy.data");
  const status = launch(
    "entropyBonus",
    addon().loss.entropyBonus,
    data,
    offsets,
    checkMask(mask, "mask", data.length, data),
    ...how,
    gradient,
  );
  assertLossStatus(status, offsets, { tokens: { entropy: data } }, options.promptTokens);
  return {
    ...valuesOf<T, typeof aggregated & { stats: typeof entropyStats }>(how[4], {
      ...aggregated,
      stats: entropyStats,
    }),
    gradEntropy: { data: gradient, offsets },
  };
}

function entropyStats(slots: Float64Array): EntropyStats {
  const tokens = slots[SLOT.tokens]!;
  return { tokens, meanEntropy: meanOf(slots[SLOT.tallies]!, tokens) };
}
