import { RowError, type Unchecked } from "../files/row-error.ts";
import * as check from "../files/row-check.ts";

/** Token ids and log-probs of a rollout; see {@link Rollout}. */
export interface RolloutTokens {
  readonly ids: readonly number[];
  /** Token index of each step's last token, rising; the last one is the last token. */
  readonly stepEnds: readonly number[];
  /** Log-prob of each token under the policy being trained. */
  readonly logProbs?: readonly number[];
  /** Log-prob of each token under the policy that is the base of the PPO ratio. */
  readonly oldLogProbs?: readonly number[];
  /** Log-prob of each token under the reference policy. */
  readonly refLogProbs?: readonly number[];
}

/** One solution of a problem, split in steps that a reward model (or a person) has scored. */
export interface Rollout {
  readonly id?: string;
  /** What the rollouts of one problem share: a string as it came, a number as its decimal. */
  readonly group: string;
  readonly question?: string;
  readonly answer?: string;
  /** The model that wrote it. */
  readonly generator?: string;
  readonly steps: readonly string[];
  /** One finite number per step. */
  readonly stepRewards: readonly number[];
  /** Index of the first wrong step, -1 for none. */
  readonly firstError?: number;
  readonly finalAnswerCorrect?: boolean;
  readonly tokens?: RolloutTokens;
}

/**
 * @internal Reads one line of a rollouts file.
 *
 * @throws {@link RowError} saying which key is wrong, what was expected and what came
 */
export function parseRollout(text: string): Rollout {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch (cause) {
    throw new RowError(`not JSON: ${(cause as Error).message}`);
  }
  if (row === null || typeof row !== "object" || Array.isArray(row)) {
    throw new RowError(`expected an object, got ${check.kind(row)}`);
  }
  return readRollout(row as Unchecked);
}

function readRollout(row: Unchecked): Rollout {
  const steps = check.strings(row, "steps");
  const stepRewards = check.numbers(row, "step_rewards", steps.length, "one per step");
  const firstError = check.optional(row, "first_error", check.integer);
  if (firstError !== undefined && (firstError < -1 || firstError >= steps.length)) {
    throw new RowError(
      `first_error: expected -1 or the index of a step (0 to ${steps.length - 1}), got ${firstError}`,
    );
  }
  return check.defined({
    id: check.optional(row, "id", check.name),
    group: check.name(row, "group"),
    question: check.optional(row, "question", check.string),
    answer: check.optional(row, "answer", check.text),
    generator: check.optional(row, "generator", check.string),
    steps,
    stepRewards,
    firstError,
    finalAnswerCorrect: check.optional(row, "final_answer_correct", check.boolean),
    tokens: readTokens(row, steps.length),
  });
}

const TOKEN_KEYS = ["token_ids", "step_ends", "log_probs", "old_log_probs", "ref_log_probs"] as const;

function readTokens(row: Unchecked, steps: number): RolloutTokens | undefined {
  if (TOKEN_KEYS.every((key) => check.absent(row[key]))) return undefined;
  const ids = check.list(
    row,
    "token_ids",
    "token ids (integers >= 0)",
    (id) => Number.isInteger(id) && (id as number) >= 0,
  ) as number[];
  const stepEnds = readStepEnds(row, steps, ids.length);
  const perToken = (key: (typeof TOKEN_KEYS)[number]) =>
    check.absent(row[key]) ? undefined : check.numbers(row, key, ids.length, "one per token");
  const [logProbs, oldLogProbs, refLogProbs] = [
    perToken("log_probs"),
    perToken("old_log_probs"),
    perToken("ref_log_probs"),
  ];
  if ((logProbs === undefined) !== (oldLogProbs === undefined)) {
    throw new RowError("log_probs and old_log_probs: expected both or neither");
  }
  if (refLogProbs !== undefined && logProbs === undefined) {
    throw new RowError("ref_log_probs: expected log_probs and old_log_probs beside it");
  }
  return check.defined({ ids, stepEnds, logProbs, oldLogProbs, refLogProbs });
}

function readStepEnds(row: Unchecked, steps: number, tokens: number): number[] {
  const ends = check.numbers(row, "step_ends", steps, "one per step");
  let previous = -1;
  for (const [k, end] of ends.entries()) {
    if (!Number.isInteger(end) || end <= previous || end >= tokens) {
      throw new RowError(`step_ends[${k}]: expected a token index in (${previous}, ${tokens}), got ${end}`);
    }
    previous = end;
  }
  if (previous !== tokens - 1) {
    throw new RowError(
      `step_ends: expected the last step to end at the last token, ${tokens - 1}, got ${previous}`,
    );
  }
  return ends;
}
