import { sameRational } from "./exact/rational.ts";
import { readExact } from "./exact/read.ts";
import { type ExtractOptions, extractAnswer } from "./extract/extract.ts";
import { MAX_LENGTH, Unreadable } from "./limits.ts";
import { type Normalized, normalize } from "./normalize/index.ts";
import type { Token } from "./normalize/token.ts";
import { Budget, Exhausted } from "./numeric/budget.ts";
import { loadReader } from "./numeric/reader.ts";
import { compareTokens } from "./structure/compare.ts";
import { asRounded } from "./structure/rounded.ts";
import type { Verdict, VerifyOptions } from "./types.ts";

/** Steps of work for one pair; a step takes about a microsecond. */
const STEPS = 500_000;

/**
 * Decides whether an answer equals the reference. Never throws, and evaluates no text as code.
 *
 * In layers: the same notation; exact fractions; form (lists, tuples, intervals, sets, matrices, relations, units, ...)
 * with numbers compared exactly or, where they are no fractions, to 43 digits, and expressions with variables at seeded
 * points. No tolerance: a decimal is not equal to a number that it only comes near to, unless `decimals` says that the
 * reference is rounded. Symmetric in its arguments without that option, save for which of them a status names.
 *
 * Work is bounded, but this thread does it: for text that may be hostile use {@link createVerifier}, which can stop it.
 *
 * @param prediction - the answer, without the text around it (see {@link extractAnswer}, {@link verifyResponse})
 * @param reference - the right answer
 */
export function verify(prediction: string, reference: string, options: VerifyOptions = {}): Verdict {
  const found = settle(prediction, reference, options);
  return "status" in found ? found : slowVerdict(found, options);
}

/**
 * Extracts the answer of a whole response and decides whether it equals the reference.
 *
 * @param response - what a model wrote
 * @param reference - the right answer
 */
export function verifyResponse(
  response: string,
  reference: string,
  options: VerifyOptions & ExtractOptions = {},
): Verdict {
  const answer = extractAnswer(response, options);
  if (answer === undefined) return { status: blank(reference) ? "badReference" : "noAnswer" };
  return { ...verify(answer, reference, options), answer };
}

function blank(text: unknown): boolean {
  return typeof text !== "string" || text.trim() === "";
}

/** @internal The verdict of the layers that take microseconds; undefined when it needs the others. */
export function quickVerdict(
  prediction: string,
  reference: string,
  options: VerifyOptions = {},
): Verdict | undefined {
  const found = settle(prediction, reference, options);
  return "status" in found ? found : undefined;
}

interface Open {
  readonly prediction: readonly Token[];
  readonly reference: readonly Token[];
}

/** A verdict, or what the other layers start from. */
function settle(prediction: string, reference: string, { decimals }: VerifyOptions): Verdict | Open {
  if (blank(reference)) return { status: "badReference", detail: "empty" };
  if (blank(prediction)) return { status: "noAnswer" };
  if (prediction === reference) return { status: "equal", by: "notation" };
  if (prediction.length > MAX_LENGTH || reference.length > MAX_LENGTH) return tooLong(prediction, reference);
  const [a, b] = [normalize(prediction), normalize(reference)];
  if (a.key === b.key) return { status: "equal", by: "notation" };
  const problem = problemOf(a, b);
  if (problem !== undefined) return problem;
  const [x, y] = [readExact(a.tokens), readExact(b.tokens)];
  const open: Open = { prediction: a.tokens, reference: b.tokens };
  if (x === undefined || y === undefined) return open;
  if (sameRational(x, y)) return { status: "equal", by: "exact" };
  return decimals === "significant" ? open : { status: "different", by: "exact" };
}

function tooLong(prediction: string, reference: string): Verdict {
  if (prediction.trim() === reference.trim()) return { status: "equal", by: "notation" };
  const status = reference.length > MAX_LENGTH ? "badReference" : "unparsed";
  return { status, detail: `more than ${MAX_LENGTH} characters` };
}

function problemOf(a: Normalized, b: Normalized): Verdict | undefined {
  if (b.problem !== undefined) return { status: "badReference", detail: b.problem };
  return a.problem === undefined ? undefined : { status: "unparsed", detail: a.problem };
}

function slowVerdict(
  { prediction, reference }: Open,
  { timeLimit = 1000, decimals }: VerifyOptions,
): Verdict {
  try {
    loadReader(); // before the clock runs
    const budget = new Budget(STEPS, timeLimit);
    const expected = decimals === "significant" ? reference.map(asRounded) : reference;
    const outcome = compareTokens(prediction, expected, budget);
    if (outcome === "unknown") return { status: "unparsed", detail: "no common form" };
    return { status: outcome, by: "structure" };
  } catch (error) {
    if (error instanceof Exhausted) return { status: "timeout", detail: error.message };
    // Whatever a reader makes of a strange text, it is no verdict and no exception.
    const detail = error instanceof Unreadable || error instanceof Error ? error.message : "failed";
    return { status: "unparsed", detail };
  }
}
