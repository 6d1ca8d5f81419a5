import type { Ragged } from "../../ragged.ts";
import type { TextCodec } from "../text/codec.ts";
import type { StepCredit } from "./credit.ts";
import type { Rewards } from "./rewards.ts";
import type { Rollouts } from "./types.ts";

/** @internal A line of rollouts.jsonl, without its step. */
export interface RolloutRecord {
  readonly id: string;
  readonly prompt: string;
  readonly response: string;
  readonly answer: string | null;
  /** Text of each step. */
  readonly steps: readonly string[];
  /** PRM reward of each step; empty without a PRM. */
  readonly step_rewards: readonly number[];
  /** Weight of each step in the soft minimum; empty for other forms of credit. */
  readonly weights: readonly number[];
  /** Advantage at the last token of each step. */
  readonly advantages: readonly number[];
  readonly verified: 0 | 1 | null;
  readonly score: number | null;
  readonly stopped: boolean;
  readonly length: number;
}

/** @internal Records of the first groups of a step. */
export function rolloutRecords(
  groups: number,
  rollouts: Rollouts,
  { stepEnds, steps, verified }: Rewards,
  credit: StepCredit | undefined,
  advantages: Ragged<Float32Array>,
  scores: Float32Array,
  codec: TextCodec,
): RolloutRecord[] {
  const { prompts, promptOf, tokens, texts, stopped } = rollouts;
  const records: RolloutRecord[] = [];
  for (let row = 0; row < texts.length && promptOf[row]! < groups; row++) {
    const { id, text, answer } = prompts[promptOf[row]!]!;
    const first = tokens.offsets[row]!;
    const ends = rowOf(stepEnds, row);
    records.push({
      id,
      prompt: text,
      response: texts[row]!,
      answer,
      steps: ends.map((end, k) =>
        codec.decode(tokens.data.subarray(first + (k === 0 ? 0 : ends[k - 1]! + 1), first + end + 1)),
      ),
      step_rewards: steps === undefined ? [] : rowOf(steps, row).map(short),
      weights: credit?.weights === undefined ? [] : rowOf(credit.weights, row).map(short),
      advantages: ends.map((end) => short(advantages.data[first + end]!)),
      verified: Number.isNaN(verified[row]!) ? null : (verified[row]! as 0 | 1),
      score: Number.isNaN(scores[row]!) ? null : short(scores[row]!),
      stopped: stopped[row] === 1,
      length: tokens.offsets[row + 1]! - first,
    });
  }
  return records;
}

function rowOf({ data, offsets }: Ragged<Int32Array> | Ragged<Float32Array>, row: number): number[] {
  return Array.from(data.subarray(offsets[row], offsets[row + 1]));
}

const short = (value: number): number => Number(value.toPrecision(6));
