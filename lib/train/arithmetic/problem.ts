import { pick, type Random } from "./random.ts";

/** A term of a problem: a sign and a digit from 1 to 9. */
export interface Term {
  /** Added or taken away. */
  readonly sign: "+" | "-";
  /** The digit. */
  readonly digit: number;
}

/** `first + terms`, such that every running total is a single digit: no carries. */
export interface Problem {
  /** The number that the problem starts from, a digit. */
  readonly first: number;
  /** What is added and taken away, in order. */
  readonly terms: readonly Term[];
  /** The result, a digit. */
  readonly answer: number;
}

/** What a term makes of a number. */
export function applyTerm(left: number, { sign, digit }: Term): number {
  return sign === "+" ? left + digit : left - digit;
}

/**
 * Index of the next term after a step used `used` at `index`. A term that is not the next one but the one after it
 * reads as a skip; anything else stands for the next one.
 */
export function termAfter({ terms }: Problem, index: number, used: Term): number {
  return !sameTerm(terms[index], used) && sameTerm(terms[index + 1], used) ? index + 2 : index + 1;
}

/** Whether both are the same term; false when there is none. */
export function sameTerm(term: Term | undefined, other: Term): boolean {
  return term?.sign === other.sign && term.digit === other.digit;
}

const TERMS: readonly Term[] = (["+", "-"] as const).flatMap((sign) =>
  Array.from({ length: 9 }, (_, i) => ({ sign, digit: i + 1 })),
);

/** A problem of 2 to 4 terms, each drawn from those that keep the running total in 0 to 9. */
export function drawProblem(random: Random): Problem {
  const first = pick(random, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const count = pick(random, [2, 3, 4]);
  const terms: Term[] = [];
  let total = first;
  while (terms.length < count) {
    const term = pick(
      random,
      TERMS.filter((candidate) => isDigit(applyTerm(total, candidate))),
    );
    terms.push(term);
    total = applyTerm(total, term);
  }
  return { first, terms, answer: total };
}

/** Whether a number is a single digit, 0 to 9. */
export function isDigit(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 9;
}

/** The prompt: `4-3+1+3=`. */
export function promptOf({ first, terms }: Problem): string {
  return `${first}${terms.map(({ sign, digit }) => sign + digit).join("")}=`;
}
