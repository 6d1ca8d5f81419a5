// Batches for the property tests: token rewards with masks, groups, steps and everything else an estimator takes.
import fc from "fast-check";
import {
  combineAdvantages,
  combineRewards,
  type FloatArray,
  gae,
  grpo,
  klReward,
  opo,
  grpoPassK,
  optimalTokenBaseline,
  ragged,
  type Ragged,
  raggedOffsets,
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  remax,
  rloo,
  type RlooBaseline,
  whiten,
} from "../../lib/index.ts";
import { groupsFor, masksFor, rowsOfNumbers } from "../support/generators.ts";

/** One batch. `stepEnds` lists some token indices per row; `kl` and `values` are further numbers per token. */
export interface Batch {
  rows: number[][];
  masks: number[][];
  groups: (number | string)[];
  stepEnds: number[][];
  kl: number[][];
}

/** Batches whose rewards are often 0, as token rewards are. */
export const batches: fc.Arbitrary<Batch> = rowsOfNumbers().chain((rows) =>
  fc
    .record({
      masks: masksFor(rows),
      groups: groupsFor(rows),
      picks: masksFor(rows),
      sparse: masksFor(rows),
      kl: fc.tuple(...rows.map((row) => fc.array(fc.double({ min: -1, max: 1, noNaN: true }), sizeOf(row)))),
    })
    .map(({ masks, groups, picks, sparse, kl }) => ({
      rows: rows.map((row, i) => row.map((value, t) => (sparse[i]![t] === 0 ? value : 0))),
      masks,
      groups,
      stepEnds: picks.map((row) => row.flatMap((pick, t) => (pick === 1 ? [t] : []))),
      kl,
    })),
);

function sizeOf(row: number[]): { minLength: number; maxLength: number } {
  return { minLength: row.length, maxLength: row.length };
}

/** Estimators on tokens, as functions of (rewards, batch, mask); every other input comes from the batch. */
export type TokenEstimator = <T extends FloatArray>(
  rewards: Ragged<T>,
  batch: Batch,
  mask?: Uint8Array,
) => Ragged<FloatArray>;

type Kind = "float32" | "float64";
const kindOf = (data: FloatArray): Kind => (data instanceof Float32Array ? "float32" : "float64");
const like = <T extends FloatArray>(rewards: Ragged<T>, rows: number[][]) =>
  ragged(rows, kindOf(rewards.data)) as unknown as Ragged<T>;
const vectorLike = <T extends FloatArray>(rewards: Ragged<T>, values: number[]) =>
  (rewards.data instanceof Float32Array ? Float32Array.from(values) : Float64Array.from(values)) as T;
const masked = (mask: Uint8Array | undefined) => (mask === undefined ? {} : { mask });
// Log-probs in [-2, 0] and sums of squares in (0, 1] out of the KL column.
const logProbs = (batch: Batch) => batch.kl.map((row) => row.map((x) => x - 1));
const sumSquares = (batch: Batch) => batch.kl.map((row) => row.map((x) => 0.5 + 0.5 * Math.abs(x)));
const perRow = (batch: Batch) => batch.rows.map((_, i) => Math.sin(i + 1));

const rlooWith =
  (baseline: RlooBaseline, extra: (batch: Batch) => object = () => ({})): TokenEstimator =>
  (rewards, batch, mask) =>
    rloo(rewards, batch.groups, { baseline, ...masked(mask), ...extra(batch) }).advantages;
const withSteps = (batch: Batch) => ({ stepEnds: ragged(batch.stepEnds, "int32") });

/** Those that compare within groups. */
export const grouped: Record<string, TokenEstimator> = {
  "rloo outcome": rlooWith("outcome"),
  "rloo return": rlooWith("return"),
  "rloo step": rlooWith("step", withSteps),
  "rloo step, every token": rlooWith("step"),
  "rloo token": rlooWith("token", withSteps),
  "rloo token without separators": rlooWith("token", (batch) => ({
    ...withSteps(batch),
    countSeparators: false,
    minTokens: 3,
  })),
  optimalTokenBaseline: (rewards, batch, mask) =>
    optimalTokenBaseline(rewards, {
      groups: batch.groups,
      logProbs: like(rewards, logProbs(batch)),
      sumSquaredProbs: like(rewards, sumSquares(batch)),
      gamma: 0.9,
      ...masked(mask),
    }).advantages,
};

/** All. */
export const estimators: Record<string, TokenEstimator> = {
  ...grouped,
  "rloo with KL before": (rewards, batch, mask) =>
    rloo(rewards, batch.groups, {
      kl: { values: like(rewards, batch.kl), coefficient: 0.3, placement: "before" },
      ...masked(mask),
    }).advantages,
  "rloo with KL after": (rewards, batch, mask) =>
    rloo(rewards, batch.groups, {
      kl: { values: like(rewards, batch.kl), coefficient: 0.3, placement: "after" },
      ...masked(mask),
    }).returns,
  gae: (rewards, batch, mask) =>
    gae(rewards, like(rewards, batch.kl), {
      gamma: 0.9,
      lambda: 0.8,
      bootstrapValues: vectorLike(rewards, perRow(batch)),
      ...masked(mask),
    }).advantages,
  "gae returns": (rewards, batch, mask) =>
    gae(rewards, like(rewards, batch.kl), { gamma: 0.9, lambda: 0.5, valueLambda: 1, ...masked(mask) })
      .returns,
  remax: (rewards, batch, mask) =>
    remax(rewards, vectorLike(rewards, perRow(batch)), masked(mask)).advantages,
  reinforcePlusPlus: (rewards, _, mask) =>
    reinforcePlusPlus(rewards, { gamma: 0.9, ...masked(mask) }).advantages,
  reinforcePlusPlusBaseline: (rewards, batch, mask) =>
    reinforcePlusPlusBaseline(vectorLike(rewards, perRow(batch)), batch.groups, rewards.offsets, masked(mask))
      .advantages,
  whiten: (rewards, _, mask) => whiten(rewards, masked(mask)),
  combineRewards: (rewards, batch, mask) =>
    combineRewards({
      process: rewards,
      verifiable: vectorLike(
        rewards,
        batch.rows.map((_, i) => [0, 1, Number.NaN][i % 3]!),
      ),
      ...masked(mask),
    }),
  combineAdvantages: (rewards, batch, mask) =>
    combineAdvantages({
      tokens: rewards,
      responses: vectorLike(rewards, perRow(batch)),
      coefficient: 0.5,
      ...masked(mask),
    }),
  klReward: (rewards, batch, mask) =>
    klReward(rewards, like(rewards, batch.kl), { coefficient: 0.2, ...masked(mask) }),
};

/** Estimators on outcomes. */
export const outcomeEstimators: Record<
  string,
  <T extends FloatArray>(rewards: T, groups: (number | string)[]) => ArrayLike<number>
> = {
  rloo: (rewards, groups) => rloo(rewards, groups).advantages,
  grpo: (rewards, groups) => grpo(rewards, groups).advantages,
  "grpo over the batch": (rewards, groups) => grpo(rewards, groups, { std: "batch" }).advantages,
  "grpo without deviation": (rewards, groups) => grpo(rewards, groups, { std: "none" }).advantages,
  grpoPassK: (rewards, groups) => grpoPassK(rewards, groups).advantages,
  opo: (rewards, groups) =>
    opo(
      rewards,
      Array.from(rewards, (_, i) => (i * 7) % 5),
      groups,
    ).advantages,
};

/** The batch without its masked-out tokens. */
export function compacted(batch: Batch): Batch {
  const keep = (rows: number[][]) => rows.map((row, i) => row.filter((_, t) => batch.masks[i]![t] === 1));
  const place = (i: number, end: number) => batch.masks[i]!.slice(0, end).filter((bit) => bit === 1).length;
  return {
    rows: keep(batch.rows),
    masks: keep(batch.masks),
    groups: batch.groups,
    kl: keep(batch.kl),
    stepEnds: batch.stepEnds.map((ends, i) =>
      ends.flatMap((end) => (batch.masks[i]![end] === 1 ? [place(i, end)] : [])),
    ),
  };
}

/** The batch with its rows in another order. */
export function reordered(batch: Batch, order: number[]): Batch {
  const pick = <V>(list: V[]) => order.map((i) => list[i]!);
  return {
    rows: pick(batch.rows),
    masks: pick(batch.masks),
    groups: pick(batch.groups),
    stepEnds: pick(batch.stepEnds),
    kl: pick(batch.kl),
  };
}

/** Token offsets of the batch. */
export function offsetsOf(batch: Batch): Int32Array {
  return raggedOffsets(batch.rows.map((row) => row.length));
}
