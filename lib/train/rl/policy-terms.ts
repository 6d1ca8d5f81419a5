import { entropyBonus, klPenalty, type PolicyStats } from "../../loss/index.ts";
import type { Ragged } from "../../ragged.ts";
import type { TrainConfig } from "../config/schema.ts";
import type { Denominator } from "./mini-batches.ts";
import { policyLoss } from "./policy-loss.ts";
import { takeRows } from "./sequences.ts";
import { addScaled } from "./token-rewards.ts";

/** @internal What the policy's loss reads, per response token: of a whole step, or of the rows of a micro-batch. */
export interface PolicyData {
  readonly advantages: Ragged<Float32Array>;
  /** Under the policy before the update. */
  readonly oldLogProbs: Ragged<Float32Array>;
  /** Under the reference policy, where there is one. */
  readonly refLogProbs: Ragged<Float32Array> | undefined;
  /** Importance weights of the rollouts, where they are corrected. */
  readonly weights: Ragged<Float32Array> | undefined;
  /** 0 for the tokens of responses that are left out. */
  readonly mask: Ragged<Uint8Array> | undefined;
}

/** @internal The same of some rows. */
export function dataOf(data: PolicyData, rows: Int32Array): PolicyData {
  return {
    advantages: takeRows(data.advantages, rows),
    oldLogProbs: takeRows(data.oldLogProbs, rows),
    refLogProbs: data.refLogProbs && takeRows(data.refLogProbs, rows),
    weights: data.weights && takeRows(data.weights, rows),
    mask: data.mask && takeRows(data.mask, rows),
  };
}

/** @internal Losses of a micro-batch, each its share of the mini-batch's, and the gradient of their sum. */
export interface PolicyTerms {
  readonly losses: Readonly<Record<string, number>>;
  readonly gradLogProbs: Float32Array;
  readonly gradEntropy: Float32Array | undefined;
  readonly stats: Partial<PolicyStats>;
  readonly meanEntropy: number;
}

/** @internal Policy loss, KL penalty and entropy bonus. */
export function policyTerms(
  { actor, kl }: TrainConfig,
  klCoefficient: number,
  now: { readonly logProbs: Ragged<Float32Array>; readonly entropy: Ragged<Float32Array> },
  { advantages, oldLogProbs, refLogProbs, weights, mask }: PolicyData,
  denominator: Denominator,
): PolicyTerms {
  const { logProbs, entropy } = now;
  const masked = mask === undefined ? {} : { mask: mask.data };
  const weighted = weights === undefined ? {} : { importanceWeights: weights };
  const loss = policyLoss(actor, { logProbs, oldLogProbs, advantages, ...masked, ...weighted }, denominator);
  const losses: Record<string, number> = { "actor/pg_loss": loss.loss };
  let gradient: Ragged<Float32Array> = loss.gradLogProbs;
  if (refLogProbs !== undefined && klCoefficient > 0) {
    const options = { ...denominator, estimator: kl.estimator, gradient: kl.gradient };
    const penalty = klPenalty({ logProbs, refLogProbs, oldLogProbs, ...masked }, options);
    gradient = addScaled(gradient, klCoefficient, penalty.gradLogProbs);
    losses["actor/kl_loss"] = penalty.loss;
  }
  const { entropyCoefficient } = actor;
  // A denominator divided by the factor multiplies the gradient by it.
  const scale = entropyCoefficient > 0 ? entropyCoefficient : 1;
  const bonus = entropyBonus(
    { entropy, ...masked },
    { ...denominator, denominator: denominator.denominator / scale },
  );
  return {
    losses,
    gradLogProbs: gradient.data,
    gradEntropy: entropyCoefficient > 0 ? bonus.gradEntropy.data : undefined,
    stats: loss.stats,
    meanEntropy: bonus.stats.meanEntropy,
  };
}
