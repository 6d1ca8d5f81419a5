import { applyTerm, isDigit, type Problem, type Term, termAfter } from "./problem.ts";
import { BOX, CLOSE, digitToken, EOS, EQUALS, SEPARATOR, signToken, TOKENS } from "./vocabulary.ts";

/** How often a hand-made policy does what; probabilities. */
export interface Habits {
  /** Restating the running total (`5=5`) before going on, again and again. */
  readonly restate: number;
  /** Share of restatements that are false. */
  readonly falseRestate: number;
  /** A sum off by one toward the start, where the term is at least 3. */
  readonly fencepostPlus: number;
  /** The same for a difference. */
  readonly fencepostMinus: number;
  /** Another wrong digit as result. */
  readonly slip: number;
  /** Skipping a term. */
  readonly skip: number;
  /** Copying a term's digit, its sign or the running total wrongly, a third each. */
  readonly miscopy: number;
  /** A wrong digit in the box. */
  readonly wrongBox: number;
}

/** A step that the policy may write next. */
export interface Move {
  /** Token ids of the step. */
  readonly tokens: readonly number[];
  /** In (0, 1]. */
  readonly probability: number;
  /** Where the policy stands after it. */
  readonly next: Position;
}

/** Where a policy stands in a solution. All it knows is here, so the text decides it. */
export interface Position {
  /** The number that the last step ended on. */
  readonly total: number;
  /** Index of the next term. */
  readonly term: number;
  /** The box is written. */
  readonly done: boolean;
}

/** Where every solution starts. */
export function startOf(problem: Problem): Position {
  return { total: problem.first, term: 0, done: false };
}

const DIGITS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/** Every step that the policy may write at a position, each once; the probabilities sum to 1. */
export function movesAt(problem: Problem, position: Position, habits: Habits): Move[] {
  const moves = new Map<number, Move>();
  const add: Add = (tokens, probability, next) => {
    if (probability <= 0) return;
    const key = tokens.reduce((code, token) => code * TOKENS.length + token, 0);
    const known = moves.get(key);
    moves.set(key, { tokens, probability: (known?.probability ?? 0) + probability, next });
  };
  addRestatements(position, habits, add);
  if (position.term < problem.terms.length) addOperations(problem, position, habits, add);
  else addBoxes(position, habits, add);
  return [...moves.values()];
}

type Add = (tokens: readonly number[], probability: number, next: Position) => void;

function others(digit: number, from = DIGITS): number[] {
  return from.filter((other) => other !== digit);
}

function addRestatements({ total, term }: Position, { restate, falseRestate }: Habits, add: Add): void {
  const write = (said: number, probability: number) =>
    add([digitToken(total), EQUALS, digitToken(said), SEPARATOR], probability, {
      total: said,
      term,
      done: false,
    });
  write(total, restate * (1 - falseRestate));
  for (const said of others(total)) write(said, (restate * falseRestate) / 9);
}

function addBoxes({ total, term }: Position, { restate, wrongBox }: Habits, add: Add): void {
  const write = (said: number, probability: number) =>
    add([BOX, digitToken(said), CLOSE, EOS], probability, { total: said, term, done: true });
  write(total, (1 - restate) * (1 - wrongBox));
  for (const said of others(total)) write(said, ((1 - restate) * wrongBox) / 9);
}

function addOperations(problem: Problem, position: Position, habits: Habits, add: Add): void {
  const { terms } = problem;
  const { total, term: index } = position;
  const { skip, miscopy } = habits;
  const term = terms[index]!;
  const write = (left: number, used: Term, probability: number) =>
    addResults(left, used, termAfter(problem, index, used), probability * (1 - habits.restate), habits, add);
  const skipped = terms[index + 1];
  write(total, term, 1 - miscopy - (skipped ? skip : 0));
  if (skipped) write(total, skipped, skip);
  const digits = others(term.digit, DIGITS.slice(1));
  for (const digit of digits) write(total, { ...term, digit }, miscopy / 3 / digits.length);
  write(total, { ...term, sign: term.sign === "+" ? "-" : "+" }, miscopy / 3);
  for (const left of others(total)) write(left, term, miscopy / 3 / 9);
}

function addResults(
  left: number,
  term: Term,
  nextTerm: number,
  probability: number,
  habits: Habits,
  add: Add,
): void {
  // There are digits only: what a wrong copy drives out of range is cut to 0 or 9, and is then wrong.
  const right = Math.min(9, Math.max(0, applyTerm(left, term)));
  const towardStart = term.sign === "+" ? right - 1 : right + 1;
  const habit = term.sign === "+" ? habits.fencepostPlus : habits.fencepostMinus;
  const fencepost = term.digit >= 3 && isDigit(towardStart) ? habit : 0;
  const rest = others(right).filter((digit) => fencepost === 0 || digit !== towardStart);
  const head = [digitToken(left), signToken(term.sign), digitToken(term.digit), EQUALS];
  const write = (result: number, share: number) =>
    add([...head, digitToken(result), SEPARATOR], probability * share, {
      total: result,
      term: nextTerm,
      done: false,
    });
  write(right, 1 - fencepost - habits.slip);
  if (fencepost > 0) write(towardStart, fencepost);
  for (const digit of rest) write(digit, habits.slip / rest.length);
}
