import { type Habits, type Move, movesAt, startOf } from "./policy.ts";
import type { Problem } from "./problem.ts";
import type { Random } from "./random.ts";

/** A sampled solution, token by token. */
export interface Sample {
  /** Ids of the solution. */
  readonly tokens: readonly number[];
  /** ln p of each token under the policy that wrote it. */
  readonly logProbs: readonly number[];
}

/** Writes a solution, of at most `longest` tokens. */
export function sampleSolution(problem: Problem, habits: Habits, random: Random, longest = 60): Sample {
  const tokens: number[] = [];
  const logProbs: number[] = [];
  for (let position = startOf(problem); !position.done && tokens.length < longest; ) {
    const moves = movesAt(problem, position, habits);
    const move = draw(moves, random);
    tokens.push(...move.tokens);
    logProbs.push(...stepLogProbs(moves, move.tokens));
    position = move.next;
  }
  return { tokens: tokens.slice(0, longest), logProbs: logProbs.slice(0, longest) };
}

/** Writes a solution as {@link sampleSolution} does, without its log-probs. */
export function sampleTokens(problem: Problem, habits: Habits, random: Random, longest = 60): number[] {
  const tokens: number[] = [];
  for (let position = startOf(problem); !position.done && tokens.length < longest; ) {
    const move = draw(movesAt(problem, position, habits), random);
    tokens.push(...move.tokens);
    position = move.next;
  }
  return tokens.slice(0, longest);
}

function draw(moves: readonly Move[], random: Random): Move {
  let left = random();
  for (const move of moves) {
    left -= move.probability;
    if (left < 0) return move;
  }
  return moves.at(-1)!;
}

/** ln p of each token of a solution under a policy, which need not be the one that wrote it. */
export function solutionLogProbs(problem: Problem, habits: Habits, tokens: readonly number[]): number[] {
  const logProbs: number[] = [];
  for (let position = startOf(problem); logProbs.length < tokens.length && !position.done; ) {
    const moves = movesAt(problem, position, habits);
    const rest = tokens.slice(logProbs.length);
    const move = moves.find((candidate) => startsAlike(candidate.tokens, rest));
    if (move === undefined) break;
    logProbs.push(...stepLogProbs(moves, move.tokens.slice(0, rest.length)));
    position = move.next;
  }
  while (logProbs.length < tokens.length) logProbs.push(Number.NEGATIVE_INFINITY);
  return logProbs;
}

// One of the two is the beginning of the other: a solution may have been cut inside a step.
function startsAlike(move: readonly number[], rest: readonly number[]): boolean {
  return move.slice(0, rest.length).every((token, i) => token === rest[i]);
}

// The steps that agree so far hold a total probability; the next token's is the share of it that goes on with it.
function stepLogProbs(moves: readonly Move[], tokens: readonly number[]): number[] {
  let agreeing = moves;
  let before = totalOf(agreeing);
  return tokens.map((token, i) => {
    agreeing = agreeing.filter((move) => move.tokens[i] === token);
    const after = totalOf(agreeing);
    const logProb = Math.log(after / before);
    before = after;
    return Math.min(0, logProb);
  });
}

function totalOf(moves: readonly Move[]): number {
  return moves.reduce((sum, move) => sum + move.probability, 0);
}
