import type { FloatArray, Values } from "../ragged.ts";
import { meanOf, SLOT } from "./aggregation.ts";
import { type LossOptions, type LossResult, POLICY_TALLY, runPolicy, type ScoreBatch } from "./policy.ts";

/** Options of {@link reinforceLoss}. */
export type ReinforceLossOptions<T extends Values = FloatArray> = Omit<LossOptions<T>, "logRatioClamp">;

/** Statistics of {@link reinforceLoss} over counted tokens; 0 for an empty batch. */
export interface ReinforceStats {
  /** Counted tokens. */
  readonly tokens: number;
  /** Tokens whose log-prob is beyond +-1e4. */
  readonly clampedTokens: number;
  /** Mean log-prob, each limited to +-1e4. */
  readonly meanLogProb: number;
}

/**
 * REINFORCE: `loss = -A logProb`, gradient `-A`. No ratio: old log-probs in the batch are not read.
 *
 * A log-prob beyond +-1e4 counts as +-1e4 in the value (the loss stays finite at -Infinity), not in the gradient.
 *
 * Source: Williams 1992; with group-relative advantages this is GPG, arXiv 2504.02546 ({@link gpgLoss}).
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` for a counted token with a NaN log-prob or an advantage or weight that is not finite
 */
export function reinforceLoss<T extends Values>(
  batch: ScoreBatch<T>,
  options: ReinforceLossOptions<T> = {},
): LossResult<T, ReinforceStats> {
  return runPolicy("reinforce", batch, {}, options, "token-mean", (slots) => ({
    tokens: slots[SLOT.tokens]!,
    clampedTokens: slots[POLICY_TALLY.clamped]!,
    meanLogProb: meanOf(slots[POLICY_TALLY.logRatio]!, slots[SLOT.tokens]!),
  }));
}

/** {@link reinforceLoss} under the name that GPG (arXiv 2504.02546) gave it; the same function. */
export const gpgLoss: typeof reinforceLoss = reinforceLoss;
