import { readExact } from "../exact/read.ts";
import { closing, is, nesting, render, symbol, type Token } from "../normalize/token.ts";
import { TRIGONOMETRIC } from "./names.ts";
import { roundingOf } from "./rounded.ts";
import { DOLLARS, isUnit, readUnit, type Unit } from "./units.ts";
import type { Scalar } from "./value.ts";

/** @internal Reads one number or expression with what follows it: unit, percent or degree sign, other words. */
export function readScalar(tokens: readonly Token[]): Scalar {
  const money = is(tokens[0], "\\$") || (is(tokens[0], "-") && is(tokens[1], "\\$"));
  const bare = money ? tokens.filter((found) => !is(found, "\\$")) : tokens;
  const { amount, words } = splitWords(inLine(bare));
  const { value, mark } = splitMark(amount, words);
  const unit = money ? DOLLARS : mark === undefined || words.length > 1 ? unitOf(words) : undefined;
  const rest = value.length > 0 ? value : tokens;
  const exact = readExact(rest);
  const rounding = roundingOf(rest, exact);
  return { kind: "scalar", key: render(tokens), tokens: rest, exact, rounding, mark, unit };
}

// A fraction of units at the end, written in line: \frac{\text{m}}{\text{s}^2} is m/s^2.
function inLine(tokens: readonly Token[]): readonly Token[] {
  const at = tokens.findLastIndex((found) => is(found, "\\frac"));
  if (at < 1) return tokens;
  const middle = closing(tokens, at + 1);
  if (middle < 0 || closing(tokens, middle + 1) !== tokens.length - 1) return tokens;
  const [above, below] = [tokens.slice(at + 2, middle), tokens.slice(middle + 2, -1)];
  if (![above, below].every((part) => part[0]?.roman && part.every(belongsToUnit))) return tokens;
  return [...tokens.slice(0, at), ...above, symbol("/"), ...below];
}

// "thousand dollars" is a number and a unit; a word in front that counts ("5 large boxes") is neither.
function unitOf(words: readonly Token[]): Unit | undefined {
  return words.length === 0 ? undefined : readUnit(words);
}

/** Everything from the first word that can belong to a unit, if nothing after it can be part of the expression. */
function splitWords(tokens: readonly Token[]): { amount: readonly Token[]; words: readonly Token[] } {
  let depth = 0;
  for (const [i, found] of tokens.entries()) {
    depth += nesting(found);
    if (depth > 0 || i === 0 || !startsUnit(found, tokens[i - 1]!)) continue;
    const words = tokens.slice(i);
    if (words.every((word) => belongsToUnit(word))) return { amount: tokens.slice(0, i), words };
  }
  return { amount: tokens, words: [] };
}

function startsUnit({ kind, text, roman, space }: Token, before: Token): boolean {
  if (is(before, "\\degree") && (text === "C" || text === "F")) return true;
  if (kind !== "word") return false;
  if (is(before, "+", "-", "\\cdot", "/", "^", "_", "=", "\\pm")) return false;
  if (roman) return text.length > 1 || isUnit(text);
  return isUnit(text) || (space && text.length > 2);
}

function belongsToUnit(found: Token): boolean {
  if (found.kind === "word" || found.kind === "letter" || found.kind === "number") return true;
  return is(found, "/", "^", "{", "}", ".", "\\cdot", "-", "(", ")", "'");
}

const PERCENT = new Set(["percent", "pct", "percentage"]);
const DEGREES = new Set(["degree", "degrees", "deg"]);

function splitMark(
  amount: readonly Token[],
  words: readonly Token[],
): { value: readonly Token[]; mark: Scalar["mark"] } {
  const last = amount.at(-1);
  const word = words[0]?.text.toLowerCase() ?? "";
  if (is(last, "%")) return { value: amount.slice(0, -1), mark: "percent" };
  if (PERCENT.has(word)) return { value: amount, mark: "percent" };
  if (word === "per" && words[1]?.text === "cent") return { value: amount, mark: "percent" };
  if (DEGREES.has(word)) return { value: amount, mark: words.length > 1 ? undefined : "degrees" };
  // The degrees of tan 15 degrees belong to the angle.
  if (!is(last, "\\degree") || amount.some((found) => is(found, ...TRIGONOMETRIC)))
    return { value: amount, mark: undefined };
  const next = words[0]?.text;
  return { value: amount.slice(0, -1), mark: next === "C" || next === "F" ? undefined : "degrees" };
}
