// Random batches for the property tests of the losses, and the losses beside their oracles.
import fc from "fast-check";
import {
  type Aggregation,
  cispoLoss,
  type FloatArray,
  gmpoLoss,
  gpgLoss,
  gspoLoss,
  type LossOptions,
  type LossResult,
  type PolicyBatch,
  ppoLoss,
  ragged,
  type Ragged,
  reinforceLoss,
  sapoLoss,
} from "../../lib/index.ts";
import { type Objective, objectives, type OracleBatch } from "../reference/loss.ts";
import { maskOf, poison } from "../support/generators.ts";

export const AGGREGATIONS: Aggregation[] = [
  "token-mean",
  "seq-mean-token-sum",
  "seq-mean-token-mean",
  "prompt-mean",
  "sum",
];

export type RandomBatch = Required<OracleBatch> & { groups: (number | string)[] };

type Token = [logProb: number, d: number, advantage: number, mask: number, weight: number];

// Log-ratios on both sides of every bound used below, none within 0.03 of one: gradients are discontinuous there.
const logRatio = fc
  .oneof(
    { weight: 3, arbitrary: fc.double({ min: -0.18, max: 0.15, noNaN: true }) },
    fc.double({ min: -3, max: -0.3, noNaN: true }),
    fc.double({ min: 0.3, max: 0.9, noNaN: true }),
    fc.double({ min: 1.3, max: 1.55, noNaN: true }),
    fc.double({ min: 1.7, max: 3, noNaN: true }),
  )
  .map((x) => x + 0);

const token: fc.Arbitrary<Token> = fc.tuple(
  fc.double({ min: -5, max: -0.01, noNaN: true }),
  logRatio,
  fc.oneof(fc.constant(0), fc.double({ min: -3, max: 3, noNaN: true })).map((x) => x + 0),
  fc.constantFrom(0, 1, 1, 1),
  fc.double({ min: 0.1, max: 2, noNaN: true }),
);

/** Rows of tokens with a mask, weights and groups; rows may be empty or wholly masked out. */
export const batches: fc.Arbitrary<RandomBatch> = fc
  .array(fc.tuple(fc.array(token, { maxLength: 8 }), fc.constantFrom<number | string>("p", "q", 3)), {
    minLength: 1,
    maxLength: 6,
  })
  .map((rows) => {
    const column = (pick: (t: Token) => number) => rows.map(([tokens]) => tokens.map(pick));
    return {
      logProbs: column((t) => t[0]),
      oldLogProbs: column((t) => t[0] - t[1]),
      advantages: column((t) => t[2]),
      masks: column((t) => t[3]),
      weights: column((t) => t[4]),
      groups: rows.map(([, group]) => group),
    };
  });

/** The batch as the library takes it; masked-out tokens hold junk. */
export function asInput(batch: RandomBatch, type: "float32" | "float64" = "float64", junk = true) {
  const mask = maskOf(batch.masks);
  const column = (rows: number[][]): Ragged<Float64Array> => {
    const values = ragged(rows, type as "float64");
    return junk ? poison(values, mask) : values;
  };
  return {
    logProbs: column(batch.logProbs),
    oldLogProbs: column(batch.oldLogProbs),
    advantages: column(batch.advantages),
    importanceWeights: column(batch.weights),
    mask,
  };
}

/** The batch without its masked-out tokens. */
export function compacted(batch: RandomBatch): RandomBatch {
  const keep = (rows: number[][]) => rows.map((row, i) => row.filter((_, t) => batch.masks[i]![t] === 1));
  return {
    logProbs: keep(batch.logProbs),
    oldLogProbs: keep(batch.oldLogProbs),
    advantages: keep(batch.advantages),
    masks: keep(batch.masks),
    weights: keep(batch.weights),
    groups: batch.groups,
  };
}

/** Rows of the batch by index. */
export function rowsOf(batch: RandomBatch, rows: number[]): RandomBatch {
  const pick = <X>(column: X[]) => rows.map((i) => column[i]!);
  return {
    logProbs: pick(batch.logProbs),
    oldLogProbs: pick(batch.oldLogProbs),
    advantages: pick(batch.advantages),
    masks: pick(batch.masks),
    weights: pick(batch.weights),
    groups: pick(batch.groups),
  };
}

/** Float64 copy of a ragged array. */
export function widened(values: Ragged<FloatArray>): Ragged<Float64Array> {
  return { data: Float64Array.from(values.data), offsets: values.offsets };
}

export type Loss = <T extends FloatArray>(
  batch: PolicyBatch<T>,
  options?: LossOptions<T>,
) => LossResult<T, unknown>;

/** Every policy loss, with the oracle's objective for the same options. */
export const POLICY_LOSSES: Record<string, { loss: Loss; objective: Objective }> = {
  ppoLoss: { loss: ppoLoss, objective: objectives.ppo() },
  "ppoLoss with clip-higher, dual clip and maxRatio": {
    loss: (batch, options) =>
      ppoLoss(batch, { ...options, clipRatioLow: 0.2, clipRatioHigh: 0.28, dualClip: 5, maxRatio: 3.5 }),
    objective: objectives.ppo(0.2, 0.28, 5, 3.5),
  },
  "ppoLoss with dual clip": {
    loss: (batch, options) => ppoLoss(batch, { ...options, dualClip: 3 }),
    objective: objectives.ppo(0.2, 0.2, 3),
  },
  gspoLoss: { loss: gspoLoss, objective: objectives.gspo() },
  gmpoLoss: { loss: gmpoLoss, objective: objectives.gmpo() },
  cispoLoss: { loss: cispoLoss, objective: objectives.cispo(0.8, 1.2) },
  "cispoLoss with absolute bounds": {
    loss: (batch, options) =>
      cispoLoss(batch, { ...options, bounds: "absolute", clipRatioLow: 0.1, clipRatioHigh: 5 }),
    objective: objectives.cispo(0.1, 5),
  },
  sapoLoss: { loss: sapoLoss, objective: objectives.sapo() },
  reinforceLoss: { loss: reinforceLoss, objective: objectives.reinforce() },
  gpgLoss: { loss: gpgLoss, objective: objectives.reinforce() },
};
