import { addon } from "../load.ts";
import type { FloatArray, Owned, Ragged } from "../ragged.ts";
import { assertRagged, checkMask, outputLike } from "../validate.ts";
import {
  type AggregatedLoss,
  type AggregationOptions,
  aggregated,
  aggregationArguments,
  assertLossStatus,
  assertObject,
  meanOf,
  SLOT,
} from "./aggregation.ts";

/** What {@link entropyBonus} reads. */
export interface EntropyBatch<T extends FloatArray> {
  /** Entropy of the policy at each token, in nats. Finite. */
  entropy: Ragged<T>;
  /** One per token: 0 leaves the token out. */
  mask?: Uint8Array;
}

/** Options of {@link entropyBonus}. */
export interface EntropyBonusOptions<T extends FloatArray = FloatArray> extends AggregationOptions {
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
export interface EntropyBonus<T extends FloatArray> extends AggregatedLoss {
  /** d `loss` / d `entropy`: minus the token's weight in the aggregation. Exactly +0 where the mask is 0. */
  readonly gradEntropy: Ragged<Owned<T>>;
  /** Statistics over the counted tokens. */
  readonly stats: EntropyStats;
}

/**
 * Entropy bonus as a loss to minimise: `loss = -aggregate(H)`, aggregated like the policy loss. Multiply by the
 * coefficient, and hand `gradEntropy` to the backward pass of the log-probs.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` for a counted entropy that is not finite
 */
export function entropyBonus<T extends FloatArray>(
  batch: EntropyBatch<T>,
  options: EntropyBonusOptions<T> = {},
): EntropyBonus<T> {
  assertObject(batch, "batch");
  const { entropy, mask } = batch;
  assertRagged(entropy, "entropy");
  const { data, offsets } = entropy;
  const how = aggregationArguments(options, offsets.length - 1);
  const gradient = outputLike(options.out, data, data.length);
  const status = addon().loss.entropyBonus(
    data,
    offsets,
    checkMask(mask, "mask", data.length),
    ...how,
    gradient,
  );
  assertLossStatus(status, offsets, { entropy: data }, how[2]);
  const slots = how[4];
  const tokens = slots[SLOT.tokens]!;
  return {
    ...aggregated(slots),
    gradEntropy: { data: gradient, offsets },
    stats: { tokens, meanEntropy: meanOf(slots[SLOT.tallies]!, tokens) },
  };
}
