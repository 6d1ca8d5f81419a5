import { ArgumentError } from "./errors.ts";
import { describe } from "./validate.ts";

/** Ways to choose one of several solutions. */
export const selectionMethods = ["best-of-n", "majority", "weighted-majority"] as const;

/** One of {@link selectionMethods}. */
export type SelectionMethod = (typeof selectionMethods)[number];

/**
 * Whether two answers are the same, called with an answer that was given before and a new one. It need be neither
 * symmetric nor transitive (a comparison with a tolerance is not): an answer joins the first group whose first answer it
 * equals, so each votes once, and the groups depend on nothing but the order in which answers were given.
 */
export type SameAnswer<A> = (a: A, b: A) => boolean | Promise<boolean>;

/** One answer and who stands behind it. */
export interface AnswerGroup<A> {
  /** The first of the equal answers. */
  readonly answer: A;
  /** Indices of the candidates that gave it, rising. */
  readonly members: readonly number[];
  /** Number of votes, or the sum of the weights. */
  readonly weight: number;
}

/** The outcome of a vote. */
export interface Vote<A> {
  /** The answer with the largest weight; of equal ones, the first that was given. Undefined when nobody answered. */
  readonly answer: A | undefined;
  /** Candidate that gave it first; -1 when nobody answered. */
  readonly index: number;
  /** All answers, in the order in which they were first given. */
  readonly groups: readonly AnswerGroup<A>[];
}

/**
 * Index of the best score: the first of equal ones. NaN (no score) never wins.
 *
 * @returns -1 when no score is a number
 * @throws {@link ArgumentError} `ERR_SHAPE` for no candidates
 */
export function bestOfN(scores: ArrayLike<number>): number {
  if (scores.length === 0)
    throw new ArgumentError("ERR_SHAPE", "scores: expected at least one candidate, got none");
  let best = -1;
  for (let i = 0; i < scores.length; i++) {
    const value = scores[i]!;
    if (!Number.isNaN(value) && (best < 0 || value > scores[best]!)) best = i;
  }
  return best;
}

/**
 * Majority vote. Candidates without an answer (undefined or null) do not vote.
 *
 * @param answers - one per candidate
 * @param same - compares two answers; default `Object.is`
 */
export function majority<A>(
  answers: readonly (A | undefined | null)[],
  same: SameAnswer<A> = Object.is,
): Promise<Vote<A>> {
  return weightedMajority(answers, new Float64Array(answers.length).fill(1), same);
}

/**
 * Vote in which each candidate's weight is its score: the sum per answer, the largest sum wins, the first of equal
 * ones. Scores should be >= 0 (probabilities): a negative one would vote against its own answer and is an error. A
 * candidate whose score is NaN does not vote.
 *
 * @param answers - one per candidate
 * @param weights - one per candidate
 * @param same - compares two answers; default `Object.is`
 * @throws {@link ArgumentError} `ERR_SHAPE` when there is not one score per answer, `ERR_ARGUMENT_VALUE` for a negative
 * or infinite weight
 */
export async function weightedMajority<A>(
  answers: readonly (A | undefined | null)[],
  weights: ArrayLike<number>,
  same: SameAnswer<A> = Object.is,
): Promise<Vote<A>> {
  if (weights.length !== answers.length)
    throw new ArgumentError("ERR_SHAPE", `weights: expected ${answers.length}, got ${weights.length}`);
  const groups: { answer: A; members: number[]; weight: number }[] = [];
  for (const [i, answer] of answers.entries()) {
    const weight = weights[i]!;
    if (typeof weight !== "number" || weight < 0 || weight === Infinity)
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `weights[${i}]: expected a finite number >= 0, got ${describe(weight)}; convert the scores to probabilities first`,
      );
    if (answer === undefined || answer === null || Number.isNaN(weight)) continue;
    const group = await findGroup<A, (typeof groups)[number]>(groups, answer, same);
    if (group === undefined) groups.push({ answer, members: [i], weight });
    else {
      group.members.push(i);
      group.weight += weight;
    }
  }
  const best = groups.length === 0 ? -1 : bestOfN(groups.map((group) => group.weight));
  return { answer: groups[best]?.answer, index: groups[best]?.members[0] ?? -1, groups };
}

async function findGroup<A, G extends { answer: A }>(
  groups: readonly G[],
  answer: A,
  same: SameAnswer<A>,
): Promise<G | undefined> {
  for (const group of groups) if (await same(group.answer, answer)) return group;
  return undefined;
}

/**
 * Best-of-N for N = 1, 2, 4, ... up to all candidates: which index each budget would pick.
 *
 * @returns pairs of N and index
 */
export function bestOfPowers(scores: ArrayLike<number>): {
  /** Number of candidates. */
  n: number;
  /** Index of the best of the first `n`, -1 when none has a score. */
  index: number;
}[] {
  const out: ReturnType<typeof bestOfPowers> = [];
  for (let n = 1; n < scores.length; n *= 2) out.push({ n, index: bestOfN(Array.from(scores).slice(0, n)) });
  out.push({ n: scores.length, index: bestOfN(scores) });
  return out;
}
