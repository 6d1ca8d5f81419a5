import { InputError, NumericError } from "../../errors.ts";
import type { Ragged } from "../../ragged.ts";
import { assertRagged, assertSameRows } from "../../validate.ts";
import type { RewardFunction as AnswerReward } from "../../verify/index.ts";
import type { StepScorer } from "../prm/scorer.ts";
import type { TextCodec } from "../text/codec.ts";
import type { Sequences } from "./sequences.ts";
import type { StepFinder } from "./steps.ts";
import type { RewardFunction, Rollouts } from "./types.ts";

/** @internal What the rollouts of a step are worth, before credit. */
export interface Rewards {
  /** Token index (within the response) of each step's last token. */
  readonly stepEnds: Ragged<Int32Array>;
  /** PRM rewards, one per step. */
  readonly steps: Ragged<Float32Array> | undefined;
  /** Of a function, one per token. */
  readonly tokens: Ragged<Float32Array> | undefined;
  /** 1 right, 0 wrong, NaN where no answer is known (or none may be used). */
  readonly verified: Float32Array;
}

/** @internal What gives rewards; absent is what the mode does not use. */
export interface RewardSources {
  readonly steps: StepFinder;
  readonly scorer?: StepScorer | undefined;
  readonly answers?: AnswerReward | undefined;
  readonly own?: RewardFunction | undefined;
  readonly codec: TextCodec;
  /** Reward of truncated responses: as any other, or 0 whatever they say. */
  readonly failTruncated: boolean;
}

/** @internal Scores rollouts with every source that there is. `known` says whether the answer of a prompt may be used. */
export async function scoreRollouts(
  sources: RewardSources,
  rollouts: Rollouts,
  sequences: Sequences,
  known: (promptId: string) => boolean,
): Promise<Rewards> {
  const stepEnds = sources.steps.find(rollouts.tokens);
  const steps = sources.scorer && (await scoreSteps(sources.scorer, sequences, stepEnds));
  if (sources.own !== undefined) {
    const { tokens, verified } = await callFunction(sources.own, rollouts, sources.codec);
    return { stepEnds, steps, tokens, verified };
  }
  const verified =
    sources.answers === undefined
      ? new Float32Array(rollouts.texts.length).fill(Number.NaN)
      : await verifyAnswers(sources.answers, rollouts, known);
  if (sources.failTruncated) {
    for (let row = 0; row < verified.length; row++) {
      if (rollouts.stopped[row] === 0 && !Number.isNaN(verified[row]!)) verified[row] = 0;
    }
  }
  return { stepEnds, steps, tokens: undefined, verified };
}

async function scoreSteps(
  scorer: StepScorer,
  sequences: Sequences,
  stepEnds: Ragged<Int32Array>,
): Promise<Ragged<Float32Array>> {
  const rows = sequences.ids.map((ids, row) => {
    const prompt = sequences.promptLength(row);
    const ends = stepEnds.data
      .subarray(stepEnds.offsets[row], stepEnds.offsets[row + 1])
      .map((end) => prompt + end);
    return { ids, ends, prompt };
  });
  const rewards = await scorer.score(rows);
  assertRagged(rewards, "scorer", ["Float32Array"]);
  assertSameRows(rewards.offsets, "scorer", stepEnds.offsets, "the steps");
  for (let row = 0; row < rows.length; row++) {
    assertFinite(
      rewards.data.subarray(rewards.offsets[row], rewards.offsets[row + 1]),
      "scorer",
      row,
      "step",
    );
  }
  return rewards;
}

function assertFinite(values: ArrayLike<number>, name: string, row: number, what: string): void {
  const bad = Array.prototype.findIndex.call(values, (value) => !Number.isFinite(value));
  if (bad < 0) return;
  throw new NumericError(
    "ERR_NOT_FINITE",
    `${name}: expected a finite reward for ${what} ${bad} of response ${row}, got ${values[bad]}`,
  );
}

async function verifyAnswers(
  answers: AnswerReward,
  { prompts, promptOf, texts }: Rollouts,
  known: (promptId: string) => boolean,
): Promise<Float32Array> {
  const rewards = await answers.score(
    texts.map((response, row) => {
      const { id, answer } = prompts[promptOf[row]!]!;
      return { response, reference: known(id) ? answer : null };
    }),
  );
  return Float32Array.from(rewards, ({ value }) => value);
}

async function callFunction(
  own: RewardFunction,
  rollouts: Rollouts,
  codec: TextCodec,
): Promise<{ tokens: Ragged<Float32Array>; verified: Float32Array }> {
  const { offsets } = rollouts.tokens;
  const rows = offsets.length - 1;
  const { rewards, verified } = (await own(rollouts, { codec })) ?? {};
  if (rewards?.length !== rows || (verified !== undefined && verified.length !== rows)) {
    throw new InputError(
      "ERR_INPUT",
      `reward.function: expected ${rows} results, one per response, got ${rewards?.length ?? "none"}` +
        (verified === undefined ? "" : ` and ${verified.length} verified`),
    );
  }
  const data = new Float32Array(offsets[rows]!);
  rewards.forEach((values, row) => {
    const length = offsets[row + 1]! - offsets[row]!;
    if (values.length !== 1 && values.length !== length) {
      throw new InputError(
        "ERR_INPUT",
        `reward.function: expected 1 or ${length} rewards for response ${row}, got ${values.length}`,
      );
    }
    assertFinite(values, "reward.function", row, "token");
    if (values.length === length) data.set(values, offsets[row]!);
    else if (length > 0) data[offsets[row + 1]! - 1] = values[0]!;
  });
  return {
    tokens: { data, offsets },
    verified: verified === undefined ? new Float32Array(rows).fill(Number.NaN) : checkVerified(verified),
  };
}

// The curriculum counts them, and what is no number would count as 0.
function checkVerified(verified: ArrayLike<number>): Float32Array {
  return Float32Array.from(verified, (value, row) => {
    if (value === 0 || value === 1 || Number.isNaN(value)) return value;
    throw new InputError(
      "ERR_INPUT",
      `reward.function: expected 1, 0 or NaN as verified of response ${row}, got ${String(value)}`,
    );
  });
}
