import { type Ragged, ragged, raggedOffsets } from "../ragged.ts";
import { BATCH_BYTES, BATCH_ROLLOUTS } from "./limits.ts";
import type { ReadRollout, RolloutReader } from "./reader.ts";
import type { RolloutTokens } from "./row.ts";
import type { RolloutIndex } from "./scan.ts";

type Numbers = Ragged<Float64Array<ArrayBuffer>>;

/** @internal Whole groups of rollouts in the layout of the primitives, in float64. */
export interface RolloutBatch {
  /** Positions in the order of the file. */
  readonly indices: readonly number[];
  readonly rollouts: readonly ReadRollout[];
  /** One id per rollout. */
  readonly groups: Int32Array;
  readonly stepRewards: Numbers;
  /** Token index of each step's last token; without tokens a step is one token. */
  readonly stepEnds: Ragged<Int32Array>;
  /** Token offsets. */
  readonly offsets: Int32Array;
  /** 1 right, 0 wrong, NaN not known. */
  readonly verifiable: Float64Array;
  readonly logProbs?: LogProbs;
}

/** @internal Log-probs of a batch, one per token. */
export interface LogProbs {
  readonly current: Numbers;
  readonly old: Numbers;
  readonly reference?: Numbers;
}

/** @internal The groups of a scanned file, in batches of bounded size. */
export function* readBatches(index: RolloutIndex, reader: RolloutReader): Generator<RolloutBatch> {
  const { order, groupOffsets, lengths } = index;
  let [indices, groups]: [number[], number[]] = [[], []];
  let bytes = 0;
  for (let group = 0; group + 1 < groupOffsets.length; group++) {
    for (let i = groupOffsets[group]!; i < groupOffsets[group + 1]!; i++) {
      indices.push(order[i]!);
      groups.push(group);
      bytes += lengths[order[i]!]!;
    }
    const last = group + 2 === groupOffsets.length;
    if (indices.length < BATCH_ROLLOUTS && bytes < BATCH_BYTES && !last) continue;
    yield batchOf(
      indices,
      indices.map((row) => reader.read(row)),
      Int32Array.from(groups),
    );
    [indices, groups, bytes] = [[], [], 0];
  }
}

function batchOf(
  indices: readonly number[],
  rollouts: readonly ReadRollout[],
  groups: Int32Array,
): RolloutBatch {
  const stepRewards = ragged(rollouts.map((rollout) => rollout.stepRewards));
  const verifiable = Float64Array.from(rollouts, ({ finalAnswerCorrect: correct }) =>
    correct === undefined ? Number.NaN : Number(correct),
  );
  const shared = { indices, rollouts, groups, stepRewards, verifiable };
  // A scanned file has tokens in every row or in none.
  const tokens = rollouts.flatMap((rollout) => rollout.tokens ?? []);
  if (tokens.length === 0) {
    const stepEnds = ragged(
      rollouts.map(({ steps }) => steps.map((_, k) => k)),
      "int32",
    );
    return { ...shared, stepEnds, offsets: stepRewards.offsets };
  }
  const logProbs = logProbsOf(tokens);
  return {
    ...shared,
    stepEnds: ragged(
      tokens.map(({ stepEnds }) => stepEnds),
      "int32",
    ),
    offsets: raggedOffsets(tokens.map(({ ids }) => ids.length)),
    ...(logProbs && { logProbs }),
  };
}

function logProbsOf(tokens: readonly RolloutTokens[]): LogProbs | undefined {
  const gather = (key: "logProbs" | "oldLogProbs" | "refLogProbs") =>
    tokens[0]![key] === undefined ? undefined : ragged(tokens.map((row) => row[key]!));
  const [current, old, reference] = [gather("logProbs"), gather("oldLogProbs"), gather("refLogProbs")];
  if (current === undefined || old === undefined) return undefined;
  return { current, old, ...(reference && { reference }) };
}
