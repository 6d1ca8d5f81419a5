import { klPenalty, ppoLoss } from "../loss/index.ts";
import type { Ragged } from "../ragged.ts";
import type { LogProbs } from "./batch.ts";

/** Statistics of the PPO loss over all tokens of a file; see `ppoLoss`. */
export interface PolicySummary {
  /** Token mean. */
  readonly loss: number;
  /** Tokens with log-probs. */
  readonly tokens: number;
  /** Share of tokens whose loss is the clipped term. */
  readonly clipFraction: number;
  /** Token mean of exp(new - old). */
  readonly meanRatio: number;
  /** Smallest ratio. */
  readonly minRatio: number;
  /** Largest ratio. */
  readonly maxRatio: number;
  /** k1 estimate of KL(old || new). */
  readonly approxKl: number;
  /** k3 estimate of KL(old || new). */
  readonly approxKlK3: number;
  /** k3 estimate of KL(new || reference), where reference log-probs are given. */
  readonly referenceKl?: number;
}

/** @internal The same as sums, so that batches add up. */
export interface PolicySums {
  loss: number;
  tokens: number;
  clipped: number;
  ratio: number;
  minRatio: number;
  maxRatio: number;
  kl: number;
  klK3: number;
  referenceKl: number | undefined;
}

/** @internal PPO loss of a batch under the given advantages. */
export function policySums(
  { current, old, reference }: LogProbs,
  advantages: Ragged<Float64Array>,
  clipRatio: number,
): PolicySums {
  const { sum, stats } = ppoLoss<Float64Array>(
    { logProbs: current, oldLogProbs: old, advantages },
    { clipRatio, aggregation: "token-mean" },
  );
  const kl = reference && klPenalty<Float64Array>({ logProbs: current, refLogProbs: reference });
  return {
    loss: sum,
    tokens: stats.tokens,
    clipped: stats.clipFraction * stats.tokens,
    ratio: stats.meanRatio * stats.tokens,
    minRatio: stats.tokens === 0 ? Number.POSITIVE_INFINITY : stats.minRatio,
    maxRatio: stats.tokens === 0 ? Number.NEGATIVE_INFINITY : stats.maxRatio,
    kl: stats.approxKl * stats.tokens,
    klK3: stats.approxKlK3 * stats.tokens,
    referenceKl: kl?.sum,
  };
}

/** @internal Sums of two batches. */
export function addPolicySums(total: PolicySums | undefined, batch: PolicySums): PolicySums {
  if (total === undefined) return batch;
  return {
    loss: total.loss + batch.loss,
    tokens: total.tokens + batch.tokens,
    clipped: total.clipped + batch.clipped,
    ratio: total.ratio + batch.ratio,
    minRatio: Math.min(total.minRatio, batch.minRatio),
    maxRatio: Math.max(total.maxRatio, batch.maxRatio),
    kl: total.kl + batch.kl,
    klK3: total.klK3 + batch.klK3,
    referenceKl: batch.referenceKl === undefined ? undefined : (total.referenceKl ?? 0) + batch.referenceKl,
  };
}

/** @internal What the sums amount to; undefined for no token. */
export function policySummary(sums: PolicySums | undefined): PolicySummary | undefined {
  if (sums === undefined || sums.tokens === 0) return undefined;
  const { tokens } = sums;
  return {
    loss: sums.loss / tokens,
    tokens,
    clipFraction: sums.clipped / tokens,
    meanRatio: sums.ratio / tokens,
    minRatio: sums.minRatio,
    maxRatio: sums.maxRatio,
    approxKl: sums.kl / tokens,
    approxKlK3: sums.klK3 / tokens,
    ...(sums.referenceKl !== undefined && { referenceKl: sums.referenceKl / tokens }),
  };
}
