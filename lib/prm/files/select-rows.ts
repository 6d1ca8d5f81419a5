import { ArgumentError, InputError } from "../../errors.ts";
import { aggregate, type Aggregator, assertAggregator } from "../aggregate.ts";
import { families } from "../families.ts";
import { type ScoreRange, stepScores, toProbability } from "../range.ts";
import {
  bestOfN,
  majority,
  type SameAnswer,
  type SelectionMethod,
  type Vote,
  weightedMajority,
} from "../../select.ts";

/** How scored rows are read and chosen from. */
export interface SelectOptions {
  /** What to do. */
  readonly method: SelectionMethod;
  /** Field that rows of one problem share; default `group` where rows have it, else `question`. */
  readonly group?: string;
  /** Field with a row's final answer; default `prediction` where rows have it, else `answer`. */
  readonly answer?: string;
  /** Make the score from `step_rewards` anew instead of taking `score`. */
  readonly aggregate?: Aggregator;
  /** Range of `step_rewards`; default: that of the convention that the row names. */
  readonly range?: ScoreRange;
  /** Turn step rewards into probabilities before they are aggregated. */
  readonly probability?: boolean;
  /** Use the first N rows of each problem only. */
  readonly n?: number;
  /** Compares answers; default: {@link sameText}. */
  readonly same?: SameAnswer<string>;
}

/** The choice for one problem. */
export interface Selection {
  /** The problem. */
  readonly group: string;
  /** Rows that were chosen from. */
  readonly n: number;
  /** The chosen row; undefined when none has a score or an answer. */
  readonly row: Readonly<Record<string, unknown>> | undefined;
  /** Its score. */
  readonly score: number | undefined;
  /** Answers with their weights, for votes. */
  readonly votes?: readonly {
    /** The answer, as its first row gives it. */
    readonly answer: string;
    /** Rows that gave it. */
    readonly count: number;
    /** Sum of their weights. */
    readonly weight: number;
  }[];
}

/**
 * The same text, composed alike (NFC) and without the blanks at its ends and beside signs: "1 / 2" is "1/2", but "1 2" is
 * not "12". For answers that mean the same in other words, pass a comparison of your own.
 */
export function sameText(a: string, b: string): boolean {
  return normalized(a) === normalized(b);
}

function normalized(answer: string): string {
  return answer
    .normalize("NFC")
    .trim()
    .replace(/\s+/g, " ")
    .replace(/ (?![\p{L}\p{N}])|(?<![\p{L}\p{N}]) /gu, "");
}

/**
 * Chooses one solution per problem from scored rows, as {@link scoreFile} writes them.
 *
 * @throws {@link InputError} `ERR_INPUT` naming the row and the field that is missing
 * @throws {@link PrmError} `ERR_SCORE_RANGE` when the aggregator does not fit the range
 */
export async function selectRows(
  rows: readonly Readonly<Record<string, unknown>>[],
  options: SelectOptions,
): Promise<Selection[]> {
  const groups = new Map<string, Member[]>();
  rows.forEach((row, i) => {
    const field = options.group ?? (row.group === undefined ? "question" : "group");
    const key = row[field];
    if (typeof key !== "string" && typeof key !== "number")
      throw new InputError("ERR_INPUT", `row ${i + 1}: expected a problem in ${field}, got ${String(key)}`);
    const members = groups.get(String(key)) ?? [];
    groups.set(String(key), members);
    if (options.n === undefined || members.length < options.n) members.push({ row, number: i + 1 });
  });
  const out: Selection[] = [];
  for (const [group, members] of groups) out.push(await selectOne(group, members, options));
  return out;
}

interface Member {
  readonly row: Readonly<Record<string, unknown>>;
  /** From 1, for messages. */
  readonly number: number;
}

async function selectOne(
  group: string,
  members: readonly Member[],
  options: SelectOptions,
): Promise<Selection> {
  const { method, same = sameText } = options;
  const rows = members.map(({ row }) => row);
  const scores = method === "majority" ? [] : members.map((member) => scoreAt(member, options));
  if (method === "best-of-n") {
    const best = bestOfN(scores);
    return { group, n: rows.length, row: rows[best], score: scores[best] };
  }
  const answers = rows.map((row) => answerOf(row, options));
  const vote: Vote<string> =
    method === "majority" ? await majority(answers, same) : await weightedMajority(answers, scores, same);
  return {
    group,
    n: rows.length,
    row: rows[vote.index],
    score: scores[vote.index],
    votes: vote.groups.map(({ answer, members, weight }) => ({ answer, count: members.length, weight })),
  };
}

function answerOf(row: Readonly<Record<string, unknown>>, { answer }: SelectOptions): string | undefined {
  const value = row[answer ?? (row.prediction === undefined ? "answer" : "prediction")];
  return value === undefined || value === null ? undefined : String(value);
}

function scoreAt({ row, number }: Member, options: SelectOptions): number {
  try {
    return scoreOf(row, options);
  } catch (error) {
    if (error instanceof Error) error.message = `row ${number}: ${error.message}`;
    throw error;
  }
}

function scoreOf(row: Readonly<Record<string, unknown>>, options: SelectOptions): number {
  const { aggregate: how, probability = false } = options;
  if (how === undefined && !probability) {
    if (row.score === null) return Number.NaN;
    if (typeof row.score === "number") return row.score;
    throw new InputError("ERR_INPUT", "expected a score, or an aggregate of step_rewards to be asked for");
  }
  if (!Array.isArray(row.step_rewards))
    throw new InputError("ERR_INPUT", "expected step_rewards to aggregate");
  const name = String(row.convention);
  const range = options.range ?? (Object.hasOwn(families, name) ? families[name]!.range : undefined);
  if (range === undefined) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `range: the rows do not name a built-in convention (${name}), so say what their step_rewards are`,
    );
  }
  const scores = stepScores(row.step_rewards as (number | null)[], range);
  const judged = probability ? toProbability(scores) : scores;
  const chosen = how ?? row.aggregate;
  assertAggregator(chosen, judged.range);
  return aggregate(judged, chosen);
}
