// The losses beside their oracles, behind one signature, for the property tests.
import {
  entropyBonus,
  type FloatArray,
  klPenalty,
  type PolicyBatch,
  type Ragged,
  valueLoss,
} from "../../lib/index.ts";
import { klTerms, policyTerms, type Terms, valueTerms } from "../reference/loss.ts";
import { type AGGREGATIONS, POLICY_LOSSES, type RandomBatch } from "./batches.ts";

/** A batch that has everything. */
export type Input = Required<PolicyBatch<Float64Array>> & { advantages: Ragged<Float64Array> };
/** Aggregation options of a call. */
export interface Options {
  aggregation?: (typeof AGGREGATIONS)[number];
  denominator?: number;
  groups?: (number | string)[];
  promptTokens?: number[];
}
/** What all losses return, with the gradient under one name. */
export interface Result {
  loss: number;
  sum: number;
  count: number;
  gradient: Ragged<FloatArray>;
}
/** A loss and its oracle. */
export interface Case {
  run: (input: Input, options: Options) => Result;
  terms: (batch: RandomBatch) => Terms;
}

/** Every loss of the family, with all its options that change a formula. */
export const CASES: Record<string, Case> = Object.fromEntries(
  Object.entries(POLICY_LOSSES).map(([name, { loss, objective }]): [string, Case] => [
    name,
    {
      run: (input, options) => {
        const result = loss(input, options);
        return { ...result, gradient: result.gradLogProbs };
      },
      terms: (batch) => policyTerms(batch, objective),
    },
  ]),
);

// The advantages of the random batch stand in for the reference log-probs, returns and entropies of the other losses.
for (const estimator of ["k1", "k2", "k3", "abs"] as const) {
  for (const gradient of ["same", "k2", "importance"] as const) {
    CASES[`klPenalty ${estimator}, gradient ${gradient}`] = {
      run: ({ logProbs, oldLogProbs, advantages, mask }, options) => {
        const result = klPenalty(
          { logProbs, oldLogProbs, refLogProbs: advantages, mask },
          { ...options, estimator, gradient },
        );
        return { ...result, gradient: result.gradLogProbs };
      },
      terms: ({ logProbs, advantages, oldLogProbs }) =>
        klTerms(logProbs, advantages, oldLogProbs, estimator, gradient),
    };
  }
}
for (const clipRange of [undefined, 0.25]) {
  CASES[`valueLoss, clipRange ${clipRange}`] = {
    run: ({ logProbs, oldLogProbs, advantages, mask }, options) => {
      const batch = { values: logProbs, oldValues: oldLogProbs, returns: advantages, mask };
      const result = valueLoss(batch, clipRange === undefined ? options : { ...options, clipRange });
      return { ...result, gradient: result.gradValues };
    },
    terms: ({ logProbs, oldLogProbs, advantages }) =>
      valueTerms(logProbs, oldLogProbs, advantages, clipRange),
  };
}
CASES.entropyBonus = {
  run: ({ advantages, mask }, options) => {
    const result = entropyBonus({ entropy: advantages, mask }, options);
    return { ...result, gradient: result.gradEntropy };
  },
  terms: ({ advantages }) => ({
    losses: advantages.map((values) => values.map((h) => -h)),
    slopes: advantages.map((values) => values.map(() => -1)),
  }),
};
