import { combineRewards, type GroupStats, rloo } from "../advantage/index.ts";
import { type Credit, mean, minForm, product, strictMinForm, sum } from "../credit/index.ts";
import type { Ragged } from "../ragged.ts";
import type { RolloutBatch } from "./batch.ts";
import type { CreditForm, CreditSettings } from "./options.ts";
import { type PolicySums, policySums } from "./policy.ts";

type Numbers = Ragged<Float64Array>;

/** @internal A batch under one form of credit. */
export interface CreditedBatch {
  readonly form: CreditForm | "sum-form";
  /** Per step: weights of min-form. */
  readonly weights?: Numbers;
  /** Per step: credited process rewards. */
  readonly rewards: Numbers;
  /** Per rollout: process return from the first step on. */
  readonly outcomes: Float64Array;
  /** Per token, of process and verifiable rewards together. */
  readonly returns: Numbers;
  /** Per token. */
  readonly advantages: Numbers;
  readonly stats: GroupStats;
  readonly policy?: PolicySums;
}

/** @internal The batch under the form that was chosen and, beside it, under sum-form. */
export function creditBatch(batch: RolloutBatch, settings: CreditSettings): [CreditedBatch, CreditedBatch] {
  return [creditWith(batch, settings.credit, settings), creditWith(batch, "sum-form", settings)];
}

function creditWith(
  batch: RolloutBatch,
  form: CreditedBatch["form"],
  settings: CreditSettings,
): CreditedBatch {
  const { stepEnds, offsets } = batch;
  const credit = assign(batch.stepRewards, form, settings.temperature);
  const rewards = combineRewards<Float64Array>({
    process: credit.rewards,
    verifiable: batch.verifiable,
    coefficient: settings.coefficient,
    verifiableCoding: settings.verifiableCoding,
  });
  const { advantages, returns, stats } = rloo<Float64Array>({ rewards, stepEnds, offsets }, batch.groups, {
    baseline: settings.baseline,
    returns: true,
  });
  const policy = batch.logProbs && policySums(batch.logProbs, advantages, settings.clipRatio);
  return {
    form,
    ...("weights" in credit && { weights: credit.weights as Numbers }),
    rewards: credit.rewards,
    outcomes: credit.outcomes,
    returns,
    advantages,
    stats,
    ...(policy && { policy }),
  };
}

function assign(
  stepRewards: Numbers,
  form: CreditedBatch["form"],
  temperature: number,
): Credit<Float64Array> {
  switch (form) {
    case "min-form":
      return minForm(stepRewards, { temperature });
    case "strict-min-form":
      return strictMinForm(stepRewards);
    case "mean":
      return mean(stepRewards);
    case "product":
      return product(stepRewards);
    case "sum-form":
      return sum(stepRewards);
  }
}

/** @internal Of one value per token, those at the last tokens of row `i`'s steps: returns and advantages do not change inside a step. */
export function perStep(values: Numbers, { stepEnds, offsets }: RolloutBatch, row: number): number[] {
  const steps = stepEnds.data.subarray(stepEnds.offsets[row], stepEnds.offsets[row + 1]);
  return Array.from(steps, (end) => values.data[offsets[row]! + end]!);
}
