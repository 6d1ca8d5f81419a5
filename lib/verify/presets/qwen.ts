import type { Verdict } from "../types.ts";
import { qwenForm } from "./qwen-strip.ts";
import { verify } from "../verify.ts";
import { looselyEqual, looseNumber, symbolicallyEqual } from "./symbolic.ts";
import { binary, isTooLong, type Pair } from "./types.ts";

/** Options of {@link qwen}. */
export interface QwenOptions {
  /** Keep units in the strings, as Qwen's evaluation does for Minerva. */
  readonly keepUnits?: boolean;
}

/**
 * Qwen2.5-Math's evaluation, whose numbers PURE reports: its extraction, string form and ladder of comparisons, with
 * antlr at hand (`4.5\times10^{33}` is then not `4.5e33`). Where it asks sympy, this library's evaluation stands in.
 */
export function qwen(pair: Pair, { keepUnits = false }: QwenOptions = {}): Verdict {
  const answer = "response" in pair ? qwenExtract(pair.response) : pair.prediction;
  if (isTooLong(answer)) return { status: "unparsed", detail: "too long" };
  const form = (text: string): string => qwenForm(text, keepUnits);
  let prediction = form("response" in pair ? form(answer) : answer);
  const reference = form(pair.reference);
  if (/^[A-E]$/.test(reference) && !/^[A-E]$/.test(prediction))
    prediction = choiceOf("response" in pair ? pair.response : answer);
  return binary(qwenEqual(prediction, reference, 0), answer);
}

/** @internal Qwen's extraction. */
export function qwenExtract(response: string): string {
  const text = response.replaceAll("ки", "");
  return found(text).replace(/\n\s*/g, "").replace(/^:/, "").replace(/\.$/, "").replace(/\/$/, "");
}

function found(text: string): string {
  const after = (phrase: string): string | undefined =>
    text.includes(phrase) ? text.slice(text.lastIndexOf(phrase) + phrase.length) : undefined;
  if (text.includes("final answer is $") && text.includes("$. I hope"))
    return text.split("final answer is $")[1]!.split("$. I hope")[0]!.trim();
  const boxed = after("boxed");
  if (boxed !== undefined) return boxContent(boxed);
  const phrase = after("he answer is") ?? after("final answer is");
  if (phrase !== undefined) return phrase.trim().split("\n\n")[0]!;
  if (text.includes("答案是")) return text.split("答案是")[1]!.trim().split("\n\n")[0]!;
  return (
    text
      .replaceAll(",", "")
      .match(/-?\d*\.?\d+/g)
      ?.at(-1) ?? ""
  );
}

function boxContent(text: string): string {
  if (text === "") return "";
  if (!text.startsWith("{")) return text.split("$")[0]!.trim();
  let depth = 1;
  for (let i = 1; i < text.length; i++) {
    if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return text.slice(1, i);
  }
  return text.slice(1);
}

function choiceOf(text: string): string {
  const letters = text.toUpperCase().match(/\b[A-E]\b/g);
  return letters?.at(-1) ?? text.trim().replace(/\.$/, "");
}

const DEPTH = 8;
const LATEX = { reads: "latex", tolerance: 1e-4 } as const;

function qwenEqual(prediction: string, reference: string, depth: number): boolean {
  if (depth > DEPTH) return false;
  const equal = (a: string, b: string): boolean => qwenEqual(a, b, depth + 1);
  if (prediction.trim().toLowerCase() === reference.trim().toLowerCase()) return true;
  if (/^[A-E]$/.test(reference) && choiceOf(prediction) === reference) return true;
  const [x, y] = [looseNumber(prediction), looseNumber(reference)];
  if (x !== undefined && y !== undefined) return looselyEqual(x, y);
  if (prediction === "") return false;
  if (bare(prediction, reference).toLowerCase() === bare(reference, prediction).toLowerCase()) return true;
  if (prediction.includes("pmatrix") && reference.includes("pmatrix"))
    return verify(prediction, reference).status === "equal";
  const tuples = [prediction, reference].map(elements);
  if (tuples[0] !== undefined && tuples[0].length === tuples[1]?.length)
    if (tuples[0].every((part, i) => equal(part, tuples[1]![i]!))) return true;
  const [p, r] = [prediction.split("="), reference.split("=")];
  if (p.length === 2 && r.length === 2) {
    const [a, b] = [`${p[0]}-(${p[1]})`, `${r[0]}-(${r[1]})`];
    if (symbolicallyEqual(a, b, LATEX) || symbolicallyEqual(`-(${a})`, b, LATEX)) return true;
  } else if (p.length === 2 && p[0]!.trim().length <= 2 && r.length === 1) {
    if (equal(p[1]!, reference)) return true;
  } else if (r.length === 2 && r[0]!.trim().length <= 2 && p.length === 1) {
    if (equal(prediction, r[1]!)) return true;
  }
  const [less, more] = [prediction, reference].map((text) => text.split(/[<>]|\\le(?![a-z])|\\ge(?![a-z])/));
  // Inequalities by the size of the difference of their sides: which way they point is not looked at.
  if (less!.length === 2 && more!.length === 2) {
    const [a, b] = [`${less![0]}-(${less![1]})`, `${more![0]}-(${more![1]})`];
    return symbolicallyEqual(a, b, LATEX) || symbolicallyEqual(`-(${a})`, b, LATEX);
  }
  return symbolicallyEqual(prediction, reference, LATEX);
}

// Outer brackets where the other side has not the other kind, then every brace and parenthesis.
function bare(text: string, other: string): string {
  const square = text.startsWith("[") && text.endsWith("]") && !other.startsWith("(");
  const round = text.startsWith("(") && text.endsWith(")") && !other.startsWith("[");
  const inner = square || round ? text.slice(1, -1) : text;
  return inner.replace(/[{}()]/g, "");
}

function elements(text: string): string[] | undefined {
  return text.length > 2 && "([".includes(text[0]!) && ")]".includes(text.at(-1)!)
    ? text.slice(1, -1).split(",")
    : undefined;
}
