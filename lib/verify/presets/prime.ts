import type { Verdict } from "../types.ts";
import { braceFractions, hendrycksForm, lastBoxed } from "./strip.ts";
import { isClose, looselyEqual, looseNumber, symbolicallyEqual } from "./symbolic.ts";
import { binary, isTooLong, type Pair } from "./types.ts";

/**
 * The training reward of PURE's verl branch: PRIME's extraction, then equal in the MATH string form or the prm800k normal
 * form, or element by element by its rules, or within 1e-4. Nothing is evaluated as code, unlike there.
 */
export function prime(pair: Pair): Verdict {
  const answer = "response" in pair ? primeExtract(pair.response) : afterLead(pair.prediction);
  if (isTooLong(answer)) return { status: "unparsed", detail: "too long" };
  if (answer === "") return { status: "noAnswer" };
  return binary(primeEqual(answer, pair.reference), answer);
}

const ANNOUNCEMENTS = ["answer:", "answer is", "answers are"];
const LEADS = ["be ", "is ", "are ", "=", ": ", "get "];

function primeExtract(response: string): string {
  const lower = response.toLowerCase();
  const starts = ANNOUNCEMENTS.map(
    (phrase) => lower.lastIndexOf(phrase) + (lower.includes(phrase) ? phrase.length : 1),
  );
  const text = response.slice(Math.max(0, ...starts));
  const boxed = lastBoxed(text, true) ?? lastBoxed(response, true);
  if (boxed !== undefined) return boxed.trim();
  return afterLead(text.split(/\.\s/)[0]!.split(" is the answer")[0]!).replace(/^[$:\s]+|[$.\s]+$/g, "");
}

function afterLead(text: string): string {
  const ends = LEADS.map(
    (phrase) => text.lastIndexOf(phrase) + phrase.length * (text.includes(phrase) ? 1 : 0),
  );
  return text.slice(Math.max(0, ...ends)).trim();
}

function primeEqual(answer: string, reference: string): boolean {
  return byForm(answer, reference) || byNumbers(answer.trim(), reference.trim());
}

function mathForm(text: string): string {
  const inside = /^\\text\{(.+?)\}$/.exec(text.trim())?.[1] ?? text.trim();
  try {
    return hendrycksForm(inside).trim();
  } catch {
    return inside;
  }
}

function byForm(answer: string, reference: string): boolean {
  if (mathForm(answer) === mathForm(reference)) return true;
  const [a, b] = [normalForm(answer), normalForm(reference)];
  if (a === b) return true;
  if (a === "") return false;
  const [x, y] = [elements(a), elements(b)];
  if (x.length !== y.length || (y.length > 1 && (a[0] !== b[0] || a.at(-1) !== b.at(-1)))) return false;
  return x.every((part, i) => sameElement(part, y[i]!));
}

const FRACTION = /^-?\d+\/0*[1-9]\d*$/;
const INTEGER = /^-?\d+$/;

function sameElement(answer: string, reference: string): boolean {
  if (answer === reference) return true;
  if (FRACTION.test(answer) && FRACTION.test(reference)) return false;
  if (INTEGER.test(answer) !== INTEGER.test(reference)) return false;
  const letters = `${answer}${reference}`.replace(/sqrt|frac|pi|sin|cos|tan|log|ln/g, "");
  const unknowns = new Set(letters.match(/[a-zA-Z]/g) ?? []);
  if (unknowns.size > 2 || /\^[{(]|\^\d\d|\^\d+\^/.test(answer + reference)) return false;
  return symbolicallyEqual(answer, reference, { reads: "plain" });
}

const WORDS =
  /(degree|cm|centimeter|meter|mile|second|minute|hour|day|week|month|year|foot|feet|inch|yard)(es)?s? *(\^\d+)?/g;

// prm800k's normal form: units dropped, LaTeX written flat, mixed numbers as sums, lower case.
function normalForm(text: string): string {
  let s = /^\\text\{(.+?)\}$/.exec(text)?.[1] ?? text;
  s = s.replaceAll("\\%", "%").replaceAll("\\$", "$").replace(/[$%]/g, "");
  s = s
    .replaceAll(" or ", " , ")
    .replaceAll(" and ", " , ")
    .replace(WORDS, "")
    .replace(/\^ *\\circ/g, "");
  if (s.startsWith("{") && s.endsWith("}")) s = s.slice(1, -1);
  s = s.replace(/,\\! */g, "");
  if (/^-?\d+\.0+$/.test(s)) s = s.replace(/\.0+$/, "");
  if (s.includes("\\")) s = flat(s);
  s = s
    .replace(/- */g, "-")
    .replace(/(\d) +(\d)/g, "$1+$2")
    .replaceAll(" ", "")
    .replace(/[{}]/g, "")
    .toLowerCase();
  return /^-?\d{1,3}(,\d{3})+$/.test(s) ? s.replaceAll(",", "") : s;
}

function flat(text: string): string {
  let s = braceFractions(text.replaceAll("\\tfrac", "\\frac").replaceAll("\\dfrac", "\\frac"));
  s = s.replaceAll("\\frac", " \\frac");
  s = s.replace(/\\frac\{([^{}]*)\}\{([^{}]*)\}/g, "$1/$2").replace(/\\sqrt\{([^{}]*)\}/g, "sqrt($1)");
  s = s
    .replaceAll("\\pi", "pi")
    .replaceAll("\\infty", "inf")
    .replaceAll("\\cdot", "*")
    .replaceAll("\\times", "*");
  return s.replace(/\\(left|right|text|mathrm|mathbf|,|;|!|quad)/g, "").trim();
}

function elements(text: string): string[] {
  const wrapped = text.length > 2 && "([".includes(text[0]!) && ")]".includes(text.at(-1)!);
  const inner = wrapped ? text.slice(1, -1) : text;
  if (wrapped && /[()[\]]/.test(inner)) return [text];
  return wrapped ? inner.split(",").map((part) => part.trim()) : [text];
}

const PI = [Math.PI, 3.14] as const;

// Microsoft's math_equal: numbers loosely, pi also as 3.14, then strings without brackets, tuples and expressions.
function byNumbers(answer: string, reference: string, depth = 0): boolean {
  if (answer === reference) return true;
  const [x, y] = [looseNumber(answer), looseNumber(reference)];
  if (x !== undefined && y !== undefined) return looselyEqual(x, y);
  if (answer === "" || depth > 4) return false;
  if (reference.includes("\\pi") && x !== undefined) {
    const factor = reference.replaceAll("\\pi", "1").replace(/(\d)1$/, "$1");
    const value = looseNumber(factor);
    if (value !== undefined && PI.some((pi) => isClose(value * pi, x))) return true;
  }
  const strip = (text: string): string => text.replace(/[()[\]{}]/g, "");
  if (strip(answer) === strip(reference)) return true;
  const [p, q] = [elements(answer), elements(reference)];
  if (p.length > 1 && p.length === q.length) return p.every((part, i) => byNumbers(part, q[i]!, depth + 1));
  return symbolicallyEqual(answer, reference, { reads: "plain", tolerance: 1e-4 });
}
