import type { Rational } from "../exact/rational.ts";
import { type Arithmetic, Undefined } from "./arithmetic.ts";
import { type Big, Bigs, bitLength, magnitude, NIL, shift } from "./big.ts";

/** @internal A complex number and the binary logarithm of a bound of its absolute error; -Infinity when it is exact. */
export interface Ball {
  readonly re: Big;
  readonly im: Big;
  readonly error: number;
}

/** @internal Exponents that functions of many digits are computed for. */
const LARGEST_EXPONENT = 40;
const LARGEST_ANGLE = 64;

/** @internal The order of magnitude of a ball's centre. */
export function sizeOf({ re, im }: Ball): number {
  return Math.max(magnitude(re), magnitude(im));
}

/** @internal Arithmetic with many digits that keeps a bound of its own error. */
export class BallArithmetic implements Arithmetic<Ball> {
  readonly #big: Bigs;

  constructor(bits: number) {
    this.#big = new Bigs(bits);
  }

  #ball(re: Big, im: Big, error: number): Ball {
    const size = Math.max(magnitude(re), magnitude(im));
    if (size > 2 ** 45) throw new Undefined("too large");
    return { re, im, error: Math.max(error, size - this.#big.bits) + 1 };
  }

  rational({ numerator, denominator }: Rational): Ball {
    if (denominator === 1n && bitLength(numerator) <= this.#big.bits)
      return { re: { m: numerator, e: 0 }, im: NIL, error: Number.NEGATIVE_INFINITY };
    const re = this.#big.divide({ m: numerator, e: 0 }, { m: denominator, e: 0 });
    return this.#ball(re, NIL, Number.NEGATIVE_INFINITY);
  }

  constant(name: "pi" | "e" | "i"): Ball {
    if (name === "i") return { re: NIL, im: { m: 1n, e: 0 }, error: Number.NEGATIVE_INFINITY };
    return this.#ball(name === "pi" ? this.#big.pi : this.#big.exp({ m: 1n, e: 0 }), NIL, -this.#big.bits);
  }

  add(a: Ball, b: Ball): Ball {
    return this.#ball(this.#big.add(a.re, b.re), this.#big.add(a.im, b.im), Math.max(a.error, b.error));
  }

  multiply(a: Ball, b: Ball): Ball {
    const big = this.#big;
    const error = Math.max(a.error + sizeOf(b), b.error + sizeOf(a), a.error + b.error);
    const known = Number.isNaN(error) ? Number.NEGATIVE_INFINITY : error;
    if (a.im.m === 0n && b.im.m === 0n) return this.#ball(big.multiply(a.re, b.re), NIL, known);
    const re = big.add(big.multiply(a.re, b.re), big.negate(big.multiply(a.im, b.im)));
    const im = big.add(big.multiply(a.re, b.im), big.multiply(a.im, b.re));
    return this.#ball(re, im, Math.max(known, sizeOf(a) + sizeOf(b) - big.bits) + 1);
  }

  divide(a: Ball, b: Ball): Ball {
    const big = this.#big;
    const size = sizeOf(b);
    if (b.error > size - 4 || size === Number.NEGATIVE_INFINITY) throw new Undefined("division by zero");
    const error = Math.max(a.error - size, b.error + sizeOf(a) - 2 * size) + 1;
    if (b.im.m === 0n) {
      const im = a.im.m === 0n ? NIL : big.divide(a.im, b.re);
      return this.#ball(a.re.m === 0n ? NIL : big.divide(a.re, b.re), im, error);
    }
    const square = big.add(big.multiply(b.re, b.re), big.multiply(b.im, b.im));
    const turned = this.multiply(a, { re: b.re, im: big.negate(b.im), error: b.error });
    const re = turned.re.m === 0n ? NIL : big.divide(turned.re, square);
    return this.#ball(re, turned.im.m === 0n ? NIL : big.divide(turned.im, square), error + 1);
  }

  negate(a: Ball): Ball {
    return { re: this.#big.negate(a.re), im: this.#big.negate(a.im), error: a.error };
  }

  exp(a: Ball): Ball {
    if (sizeOf(a) > LARGEST_EXPONENT || a.error > -4) throw new Undefined("exponent");
    const size = this.#big.exp(a.re);
    const error = a.error + magnitude(size) + 1;
    if (a.im.m === 0n) return this.#ball(size, NIL, error);
    const { sin, cos } = this.#big.sinCos(a.im);
    return this.#ball(this.#big.multiply(size, cos), this.#big.multiply(size, sin), error + 1);
  }

  ln(a: Ball): Ball {
    const size = sizeOf(a);
    if (a.error > size - 4 || size === Number.NEGATIVE_INFINITY) throw new Undefined("logarithm of zero");
    const error = a.error - size + 2;
    if (a.im.m === 0n && a.re.m > 0n)
      return this.#ball(this.#big.ln(a.re), NIL, Math.max(error, -this.#big.bits));
    const big = this.#big;
    const square = big.add(big.multiply(a.re, a.re), big.multiply(a.im, a.im));
    const { m, e } = big.ln(square);
    const angle = a.im.m === 0n ? big.pi : big.angle(a.im, a.re);
    return this.#ball({ m, e: e - 1 }, angle, Math.max(error, 2 - big.bits));
  }

  sqrt(a: Ball): Ball {
    const big = this.#big;
    const size = sizeOf(a);
    const vague = a.error > size - 4;
    const error = vague ? a.error / 2 + 2 : a.error - size / 2 + 1;
    if (size === Number.NEGATIVE_INFINITY) return { ...a, error: a.error / 2 };
    if (a.im.m === 0n) {
      const root = big.sqrt(a.re.m < 0n ? big.negate(a.re) : a.re);
      return a.re.m < 0n ? this.#ball(NIL, root, error) : this.#ball(root, NIL, error);
    }
    const length = big.sqrt(big.add(big.multiply(a.re, a.re), big.multiply(a.im, a.im)));
    const half = (x: Big): Big => ({ m: x.m, e: x.e - 1 });
    // The larger part first: the other follows by division, without cancellation.
    const larger = big.sqrt(half(big.add(length, a.re.m < 0n ? big.negate(a.re) : a.re)));
    const smaller = half(big.divide(a.im, larger));
    if (a.re.m >= 0n) return this.#ball(larger, smaller, error + 1);
    const negative = a.im.m < 0n;
    return this.#ball(
      negative ? big.negate(smaller) : smaller,
      negative ? big.negate(larger) : larger,
      error + 1,
    );
  }

  sin(a: Ball): Ball {
    return this.#circular(a, "sin");
  }

  cos(a: Ball): Ball {
    return this.#circular(a, "cos");
  }

  #circular(a: Ball, which: "sin" | "cos"): Ball {
    if (sizeOf(a) > LARGEST_ANGLE || a.error > -4) throw new Undefined("angle");
    const big = this.#big;
    const { sin, cos } = big.sinCos(a.re);
    if (a.im.m === 0n) return this.#ball(which === "sin" ? sin : cos, NIL, Math.max(a.error, -big.bits) + 1);
    const [up, down] = [big.exp(a.im), big.exp(big.negate(a.im))];
    const half = (x: Big): Big => ({ m: x.m, e: x.e - 1 });
    const cosh = half(big.add(up, down));
    const sinh = half(big.add(up, big.negate(down)));
    const error = Math.max(a.error, -big.bits) + magnitude(cosh) + 2;
    if (which === "sin") return this.#ball(big.multiply(sin, cosh), big.multiply(cos, sinh), error);
    return this.#ball(big.multiply(cos, cosh), big.negate(big.multiply(sin, sinh)), error);
  }

  abs(a: Ball): Ball {
    const big = this.#big;
    if (a.im.m === 0n) return a.re.m < 0n ? { ...a, re: big.negate(a.re) } : a;
    const square = big.add(big.multiply(a.re, a.re), big.multiply(a.im, a.im));
    return this.#ball(big.sqrt(square), NIL, a.error + 1);
  }

  isReal(a: Ball): boolean {
    return a.im.m === 0n || magnitude(a.im) <= a.error + 2;
  }

  sign(a: Ball): number {
    if (magnitude(a.re) <= a.error + 1) return 0;
    return a.re.m > 0n ? 1 : a.re.m < 0n ? -1 : 0;
  }

  floor(a: Ball): { whole: bigint; exact: boolean } {
    if (magnitude(a.re) > 1024 || a.error > -8) throw new Undefined("too large");
    const whole = shift(a.re.m, a.re.e);
    const places = 64;
    const fraction = shift(a.re.m, a.re.e + places) - (whole << BigInt(places));
    const tiny = 1n << BigInt(Math.max(0, Math.ceil(a.error) + places + 2));
    if (fraction <= tiny) return { whole, exact: true };
    if ((1n << BigInt(places)) - fraction <= tiny) return { whole: whole + 1n, exact: true };
    return { whole, exact: false };
  }
}
