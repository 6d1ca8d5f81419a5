import { MAX_BITS } from "../limits.ts";

/** @internal An exact fraction with a positive denominator; in lowest terms unless it is very long. */
export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** @internal Bits of an integer, rounded up to a multiple of four. */
export function bits(value: bigint): number {
  return value.toString(16).length * 4;
}

// Euclid's algorithm is quadratic: beyond this, terms are left as they are.
const REDUCED_BITS = 4096;

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** @internal A fraction, or undefined for a zero denominator and for numbers past the limit. */
export function rational(numerator: bigint, denominator = 1n): Rational | undefined {
  if (denominator === 0n || bits(numerator) > MAX_BITS || bits(denominator) > MAX_BITS) return undefined;
  if (denominator === 1n) return { numerator, denominator };
  const sign = denominator < 0n ? -1n : 1n;
  if (bits(denominator) > REDUCED_BITS)
    return { numerator: numerator * sign, denominator: denominator * sign };
  const divisor = gcd(numerator, denominator * sign) * sign;
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

/** @internal */
export const ZERO: Rational = { numerator: 0n, denominator: 1n };

/** @internal */
export const ONE: Rational = { numerator: 1n, denominator: 1n };

/** @internal A whole number. */
export const whole = (value: number | bigint): Rational => ({ numerator: BigInt(value), denominator: 1n });

/** @internal Whether two fractions have one value. */
export function sameRational(a: Rational, b: Rational): boolean {
  return a.numerator * b.denominator === b.numerator * a.denominator;
}

/** @internal */
export function negate(a: Rational): Rational {
  return { numerator: -a.numerator, denominator: a.denominator };
}

/** @internal */
export function add(a: Rational, b: Rational): Rational | undefined {
  return rational(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);
}

/** @internal */
export function multiply(a: Rational, b: Rational): Rational | undefined {
  return rational(a.numerator * b.numerator, a.denominator * b.denominator);
}

/** @internal */
export function divide(a: Rational, b: Rational): Rational | undefined {
  return rational(a.numerator * b.denominator, a.denominator * b.numerator);
}

/** @internal */
export function sign(a: Rational): -1 | 0 | 1 {
  return a.numerator > 0n ? 1 : a.numerator < 0n ? -1 : 0;
}

/** @internal */
export function isInteger(a: Rational): boolean {
  return a.denominator === 1n || a.numerator % a.denominator === 0n;
}

/** @internal The largest integer that is not above it. */
export function floor(a: Rational): Rational {
  const whole = a.numerator / a.denominator;
  const below = a.numerator < 0n && a.numerator % a.denominator !== 0n;
  return { numerator: below ? whole - 1n : whole, denominator: 1n };
}

/** @internal An integer power. */
export function power(a: Rational, exponent: bigint): Rational | undefined {
  const magnitude = exponent < 0n ? -exponent : exponent;
  const size = Math.max(bits(a.numerator), bits(a.denominator));
  const trivial = a.denominator === 1n && (a.numerator === 0n || a.numerator === 1n || a.numerator === -1n);
  if (!trivial && magnitude * BigInt(size) > BigInt(4 * MAX_BITS)) return undefined;
  if (trivial && magnitude > 1n)
    return exponent < 0n && a.numerator === 0n
      ? undefined
      : a.numerator === -1n && magnitude % 2n === 0n
        ? negate(a)
        : a;
  const [n, d] = [a.numerator ** magnitude, a.denominator ** magnitude];
  return exponent < 0n ? rational(d, n) : rational(n, d);
}

/** @internal The exact k-th root of a fraction >= 0, where there is one. */
export function root(a: Rational, k: number): Rational | undefined {
  const [n, d] = [integerRoot(a.numerator, k), integerRoot(a.denominator, k)];
  return n === undefined || d === undefined ? undefined : rational(n, d);
}

function integerRoot(value: bigint, k: number): bigint | undefined {
  if (value < 2n) return value < 0n ? undefined : value;
  const degree = BigInt(k);
  // Newton from above: starts past the root and falls until it stops.
  let guess = 1n << BigInt(Math.ceil(bits(value) / k) + 1);
  for (;;) {
    const next = ((degree - 1n) * guess + value / guess ** (degree - 1n)) / degree;
    if (next >= guess) break;
    guess = next;
  }
  return guess ** degree === value ? guess : undefined;
}

/** @internal The nearest double; infinite past its range. */
export function toNumber({ numerator, denominator }: Rational): number {
  const excess = Math.max(bits(numerator), bits(denominator)) - 1000;
  if (excess <= 0) return Number(numerator) / Number(denominator);
  const shift = bits(numerator) - bits(denominator);
  const scaled =
    shift > 0
      ? numerator / (denominator << BigInt(Math.max(0, shift - 64)))
      : (numerator << BigInt(64 - shift)) / denominator;
  return Number(scaled) * 2 ** (shift > 0 ? Math.max(0, shift - 64) : shift - 64);
}

/** @internal A literal as written: `12`, `.5`, `4.5e33`. */
export function literal(text: string): Rational | undefined {
  const e = Math.max(text.indexOf("e"), text.indexOf("E"));
  const [mantissa, exponent] = e < 0 ? [text, 0] : [text.slice(0, e), Number(text.slice(e + 1))];
  const point = mantissa.indexOf(".");
  const digits = point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  const scale = exponent - (point < 0 ? 0 : mantissa.length - point - 1);
  if (Math.abs(scale) > MAX_BITS / 4) return undefined;
  const value = BigInt(digits);
  return scale < 0 ? rational(value, 10n ** BigInt(-scale)) : rational(value * 10n ** BigInt(scale));
}
