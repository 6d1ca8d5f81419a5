import { closing, is, type Token } from "../normalize/token.ts";
import * as q from "./rational.ts";
import type { Rational } from "./rational.ts";

/**
 * @internal The exact value of the common forms of a number, without the reader: an integer, decimal, fraction `a/b` or
 * `\frac{a}{b}`, mixed number, repeating decimal, product with a power of ten; with a sign. Undefined for all else.
 */
export function readExact(tokens: readonly Token[]): Rational | undefined {
  const head = tokens[0];
  if (is(head, "-")) {
    const value = readExact(tokens.slice(1));
    return value === undefined ? undefined : q.negate(value);
  }
  if (is(head, "+")) return readExact(tokens.slice(1));
  if (is(head, "(") && closing(tokens, 0) === tokens.length - 1) return readExact(tokens.slice(1, -1));
  if (head?.kind === "number") {
    if (tokens.length === 1) return q.literal(head.text);
    return afterNumber(q.literal(head.text), tokens);
  }
  return is(head, "\\frac") ? fraction(tokens, 0) : undefined;
}

function afterNumber(first: Rational | undefined, tokens: readonly Token[]): Rational | undefined {
  const [, second, third] = tokens;
  if (first === undefined) return undefined;
  if (is(second, "/")) {
    const below = readExact(tokens.slice(2));
    return below === undefined || tokens.slice(2).some((found) => is(found, "/", "\\cdot"))
      ? undefined
      : q.divide(first, below);
  }
  if (is(second, "\\frac")) {
    const part = q.isInteger(first) ? fraction(tokens, 1) : undefined;
    return part !== undefined && isProper(part) ? q.add(first, part) : undefined;
  }
  if (second?.kind === "number" && second.space && is(third, "/") && tokens.length === 4) {
    const part = afterNumber(q.literal(second.text), tokens.slice(1));
    return q.isInteger(first) && part !== undefined && isProper(part) ? q.add(first, part) : undefined;
  }
  if (is(second, "\\cdot") && third?.text === "10") {
    const scale = powerOfTen(tokens.slice(2));
    return scale === undefined ? undefined : q.multiply(first, scale);
  }
  if (is(second, ".") && is(third, "\\overline")) return repeating(tokens[0]!.text, tokens.slice(2));
  return is(second, "\\overline") && tokens[0]!.text.includes(".")
    ? repeating(tokens[0]!.text, tokens.slice(1))
    : undefined;
}

function isProper(part: Rational): boolean {
  return part.numerator > 0n && part.numerator < part.denominator;
}

function fraction(tokens: readonly Token[], at: number): Rational | undefined {
  const middle = closing(tokens, at + 1);
  if (middle < 0 || closing(tokens, middle + 1) !== tokens.length - 1) return undefined;
  const above = readExact(tokens.slice(at + 2, middle));
  const below = readExact(tokens.slice(middle + 2, -1));
  return above === undefined || below === undefined ? undefined : q.divide(above, below);
}

function powerOfTen(tokens: readonly Token[]): Rational | undefined {
  const [ten, caret] = tokens;
  if (ten?.kind !== "number" || ten.text !== "10" || !is(caret, "^")) return undefined;
  if (closing(tokens, 2) !== tokens.length - 1) return undefined;
  const exponent = readExact(tokens.slice(3, -1));
  return exponent === undefined || !q.isInteger(exponent)
    ? undefined
    : q.power({ numerator: 10n, denominator: 1n }, exponent.numerator);
}

// 0.1\overline{6}: the digits under the bar over as many nines.
function repeating(start: string, tokens: readonly Token[]): Rational | undefined {
  const inside = is(tokens[1], "{") ? tokens.slice(2, -1) : tokens.slice(1);
  const [digits] = inside;
  if (inside.length !== 1 || digits?.kind !== "number" || !/^\d{1,60}$/.test(digits.text)) return undefined;
  const decimals = start.includes(".") ? start.length - start.indexOf(".") - 1 : 0;
  const base = q.literal(start);
  const scale = 10n ** BigInt(decimals);
  const tail = q.rational(BigInt(digits.text), (10n ** BigInt(digits.text.length) - 1n) * scale);
  return base === undefined || tail === undefined ? undefined : q.add(base, tail);
}
