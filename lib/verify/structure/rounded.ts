import * as q from "../exact/rational.ts";
import type { Rational } from "../exact/rational.ts";
import { is, type Token } from "../normalize/token.ts";

/** @internal Marks a number as rounded. */
export function asRounded(found: Token): Token {
  return found.kind === "number" ? { ...found, rounded: true } : found;
}

/**
 * @internal Half a unit of the last digit of a rounded decimal, also before a power of ten (`4.5e33`,
 * `4.5\cdot10^{33}`); undefined for every other number, which is exact.
 *
 * @param value - what the tokens are as a fraction
 */
export function roundingOf(tokens: readonly Token[], value: Rational | undefined): Rational | undefined {
  const [head, next] = is(tokens[0], "-", "+") ? tokens.slice(1) : tokens;
  if (!head?.rounded || value === undefined) return undefined;
  const scaled = is(next, "\\cdot");
  const decimal = next === undefined && /[.eE]/.test(head.text);
  if (!decimal && !scaled) return undefined;
  const mantissa = q.literal(head.text);
  const unit = q.literal(lastDigit(head.text));
  const scale = mantissa && (q.sign(mantissa) === 0 ? q.ONE : q.divide(value, mantissa));
  const rounding = unit && scale && q.multiply(unit, scale);
  return rounding && q.divide(q.sign(rounding) < 0 ? q.negate(rounding) : rounding, q.whole(2));
}

// 12.50e3 -> 00.01e3
function lastDigit(text: string): string {
  const e = text.search(/[eE]/);
  const end = e < 0 ? text.length : e;
  const zeros = text.slice(0, end).replaceAll(/\d/g, "0");
  const last = zeros.lastIndexOf("0");
  return `${zeros.slice(0, last)}1${zeros.slice(last + 1)}${text.slice(end)}`;
}
