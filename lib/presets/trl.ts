import { type GroupIds, rloo } from "../advantage/index.ts";
import { ArgumentError } from "../errors.ts";
import type { FloatArray, Owned } from "../ragged.ts";
import {
  type ArrayName,
  assertNumber,
  assertOneOf,
  assertVector,
  checkGroups,
  FLOATS,
  typeName,
} from "../validate.ts";
import {
  type AggregateRule,
  BatchDivisor,
  GroupForm,
  KlForm,
  type PolicyRule,
  RatioLevel,
  RowDivisor,
  Singleton,
  TokenLoss,
} from "./kernels.ts";
import { groupScores, openBatch, type PaddedBatch, type PaddedKl, type PaddedPolicyLoss } from "./padded.ts";
import type { PaddedLogProbs } from "./pure-verl.ts";

/** One reward per response, and the prompts the responses belong to. */
export interface GroupedRewards<T extends FloatArray> {
  /** One per response. */
  readonly rewards: T;
  /** Prompt id of each response. */
  readonly index: GroupIds;
}

/** Log-probs of a padded batch with one advantage per response. */
export interface TrlPolicyBatch<T extends FloatArray> extends PaddedBatch {
  /** `[rows, width]`, of the policy being trained. */
  readonly logProbs: T;
  /** `[rows, width]`, of the policy that sampled. */
  readonly oldLogProbs: T;
  /** `[rows]`. */
  readonly advantages: T;
}

/** Names of TRL's GRPO loss types that are reproduced. */
export type TrlLossType = "grpo" | "bnpo" | "dr_grpo" | "dapo" | "luspo" | "cispo" | "sapo";

/** Options of {@link TrlPreset.computeLoss}, under the names of TRL's GRPO configuration. */
export interface TrlLossOptions {
  /** Default `"dapo"`. */
  lossType?: TrlLossType;
  /** Lower clip, and upper too unless `epsilonHigh` is given. Default 0.2. */
  epsilon?: number;
  /** Upper clip; for CISPO the largest weight itself, not an offset from 1. */
  epsilonHigh?: number;
  /** Two-sided clip: the unclipped ratio is clamped to at most this. */
  delta?: number;
  /** `"sequence"` takes one ratio per response, the geometric mean. Default `"token"`. */
  importanceSamplingLevel?: "token" | "sequence";
  /** dapo and cispo: number of tokens of the global batch divided by the processes. Default the batch's own. */
  numItemsInBatch?: number;
  /** dr_grpo: the divisor beside the number of rows. Default the padded width. */
  maxCompletionLength?: number;
  /** sapo: temperature for A > 0. Default 1. */
  sapoTemperaturePos?: number;
  /** sapo: temperature for A <= 0. Default 1.05. */
  sapoTemperatureNeg?: number;
}

/** TRL (github.com/huggingface/trl). It keeps this arithmetic inside its trainers, so most names are ours. */
export interface TrlPreset {
  /**
   * GRPO: `(r - mean) / (std + 1e-4)`, ddof 1, the std of the group or of the batch, or none (`scaleRewards`). A group of
   * one gets 0.
   */
  grpoAdvantages<T extends FloatArray>(
    batch: GroupedRewards<T>,
    options?: { scaleRewards?: "group" | "batch" | "none" },
  ): Owned<T>;
  /**
   * RLOO: `r - mean of the other scorable rewards`; a NaN reward is left out and gets 0, as does a group with one scorable
   * reward. With `kl` (one per response: the sum of its log-ratios) the reward is `r - beta kl` first. `normalizeAdvantages`
   * subtracts the batch mean and divides by std + 1e-4.
   */
  rlooAdvantages<T extends FloatArray>(
    batch: GroupedRewards<T> & { readonly kl?: T },
    options?: { beta?: number; normalizeAdvantages?: boolean },
  ): Owned<T>;
  /**
   * GRPO's loss, KL term excluded. No log-ratio is clamped. Means over rows count fully masked rows, divisors are at least
   * 1, `dr_grpo` divides by rows x width.
   */
  computeLoss<T extends FloatArray>(batch: TrlPolicyBatch<T>, options?: TrlLossOptions): PaddedPolicyLoss<T>;
  /** RLOO's loss: PPO clip on `exp(sum_t log-ratio)`, one per response, without a clamp; a fully masked row has ratio 1. */
  rlooLoss<T extends FloatArray>(
    batch: TrlPolicyBatch<T>,
    options?: { epsilon?: number; epsilonHigh?: number },
  ): PaddedPolicyLoss<T>;
  /** k3 without any clamp: `exp(-d) + d - 1`; infinite with an infinite gradient where exp overflows. */
  kl<T extends FloatArray>(batch: PaddedLogProbs<T>): PaddedKl<T>;
}

const STD_EPSILON = 1e-4;

function group<T extends FloatArray>({ rewards, index }: GroupedRewards<T>) {
  assertVector(rewards, "rewards", rewards?.length ?? 0, FLOATS);
  if (rewards.length === 0) throw new ArgumentError("ERR_SHAPE", "rewards: expected at least one, got none");
  return checkGroups(index, rewards.length, "index");
}

function rule(options: { epsilon?: number; epsilonHigh?: number; delta?: number }): PolicyRule {
  const { epsilon = 0.2, epsilonHigh = epsilon, delta = Number.POSITIVE_INFINITY } = options;
  assertNumber(epsilon, "epsilon", { low: 0 });
  assertNumber(epsilonHigh, "epsilonHigh", { low: 0 });
  return {
    loss: TokenLoss.clip,
    level: RatioLevel.token,
    logLow: Number.NEGATIVE_INFINITY,
    logHigh: Number.POSITIVE_INFINITY,
    low: 1 - epsilon,
    high: 1 + epsilonHigh,
    dualClip: 0,
    delta,
    tauPositive: 1,
    tauNegative: 1.05,
    rowAdvantages: true,
    countEpsilon: 0,
  };
}

function aggregation(options: TrlLossOptions, width: number): AggregateRule {
  const { numItemsInBatch, maxCompletionLength = width } = options;
  const tokens = { row: RowDivisor.none, batch: BatchDivisor.tokensAtLeastOne, scale: 1 };
  switch (options.lossType ?? "dapo") {
    case "grpo":
    case "sapo":
      return { row: RowDivisor.lengthAtLeastOne, batch: BatchDivisor.rows, scale: 1 };
    case "bnpo":
      return tokens;
    case "dr_grpo":
      return { row: RowDivisor.none, batch: BatchDivisor.rows, scale: maxCompletionLength };
    case "luspo":
      return { row: RowDivisor.none, batch: BatchDivisor.rows, scale: 1 };
    default:
      return numItemsInBatch === undefined
        ? tokens
        : { row: RowDivisor.none, batch: BatchDivisor.one, scale: numItemsInBatch };
  }
}

/** @internal */
export const trl: TrlPreset = {
  grpoAdvantages(batch, { scaleRewards = "group" } = {}) {
    assertOneOf(scaleRewards, "scaleRewards", ["group", "batch", "none"]);
    return groupScores(group(batch), batch.rewards, {
      form: scaleRewards === "none" ? GroupForm.centre : GroupForm.scale,
      singleton: Singleton.zero,
      batchStd: scaleRewards === "batch",
      epsilon: STD_EPSILON,
    });
  },

  rlooAdvantages<T extends FloatArray>(
    batch: GroupedRewards<T> & { readonly kl?: T },
    { beta = 0, normalizeAdvantages = false }: { beta?: number; normalizeAdvantages?: boolean } = {},
  ) {
    const { rewards, kl } = batch;
    group(batch);
    if (kl !== undefined) assertVector(kl, "kl", rewards.length, [typeName(rewards) as ArrayName]);
    const total = rewards.map((reward, i) => (kl === undefined ? reward : reward - beta * kl[i]!)) as T;
    const { advantages } = rloo(total, batch.index, { singleton: "zero", unscorable: "exclude" });
    if (!normalizeAdvantages) return advantages;
    const batchGroup = { index: new Int32Array(rewards.length), count: 1 };
    return groupScores(batchGroup, advantages, {
      form: GroupForm.scale,
      singleton: Singleton.same,
      epsilon: STD_EPSILON,
    });
  },

  computeLoss(batch, options = {}) {
    const { lossType = "dapo", importanceSamplingLevel = "token", epsilonHigh, epsilon = 0.2 } = options;
    const { sapoTemperaturePos = 1, sapoTemperatureNeg = 1.05 } = options;
    assertOneOf(lossType, "lossType", ["grpo", "bnpo", "dr_grpo", "dapo", "luspo", "cispo", "sapo"]);
    assertOneOf(importanceSamplingLevel, "importanceSamplingLevel", ["token", "sequence"]);
    const padded = openBatch(batch, "logProbs", batch?.logProbs);
    const policy = rule(options);
    policy.tauPositive = sapoTemperaturePos;
    policy.tauNegative = sapoTemperatureNeg;
    if (importanceSamplingLevel === "sequence") policy.level = RatioLevel.sequence;
    if (lossType === "sapo") policy.loss = TokenLoss.softGate;
    if (lossType === "cispo") {
      policy.loss = TokenLoss.clippedWeight;
      policy.low = Number.NEGATIVE_INFINITY;
      policy.high = epsilonHigh ?? epsilon;
    }
    return padded.policyLoss(
      batch.logProbs,
      padded.tokens(batch.oldLogProbs, "oldLogProbs"),
      padded.perRow(batch.advantages, "advantages"),
      policy,
      aggregation(options, padded.width),
    );
  },

  rlooLoss(batch, options = {}) {
    const padded = openBatch(batch, "logProbs", batch?.logProbs);
    return padded.policyLoss(
      batch.logProbs,
      padded.tokens(batch.oldLogProbs, "oldLogProbs"),
      padded.perRow(batch.advantages, "advantages"),
      { ...rule(options), level: RatioLevel.sequenceSum },
      { row: RowDivisor.lengthAtLeastOne, batch: BatchDivisor.rows, scale: 1 },
    );
  },

  kl(batch) {
    const padded = openBatch(batch, "logProbs", batch?.logProbs);
    return padded.kl(batch.logProbs, padded.tokens(batch.refLogProbs, "refLogProbs"), {
      form: KlForm.k3,
      inputClamp: Number.POSITIVE_INFINITY,
      outputClamp: Number.POSITIVE_INFINITY,
    });
  },
};
