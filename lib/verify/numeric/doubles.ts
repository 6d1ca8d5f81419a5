import { type Rational, toNumber } from "../exact/rational.ts";
import { type Arithmetic, Undefined } from "./arithmetic.ts";

/** @internal A complex number in doubles. */
export interface Complex {
  readonly re: number;
  readonly im: number;
}

function complex(re: number, im = 0): Complex {
  if (!Number.isFinite(re) || !Number.isFinite(im)) throw new Undefined("not finite");
  return { re, im };
}

const CONSTANTS = { pi: complex(Math.PI), e: complex(Math.E), i: complex(0, 1) };
/** Values this near an integer are that integer, relative to their size. */
const NEAR = 1e-11;

/** @internal Double precision: fast, and enough to find most differences. */
export const doubles: Arithmetic<Complex> = {
  rational: (value: Rational) => complex(toNumber(value)),
  constant: (name) => CONSTANTS[name],
  add: (a, b) => complex(a.re + b.re, a.im + b.im),
  multiply: (a, b) =>
    a.im === 0 && b.im === 0
      ? complex(a.re * b.re)
      : complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re),
  divide(a, b) {
    if (b.im === 0) return complex(a.re / b.re, a.im / b.re);
    const size = b.re * b.re + b.im * b.im;
    return complex((a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size);
  },
  negate: (a) => complex(-a.re, a.im === 0 ? 0 : -a.im),
  exp(a) {
    const size = Math.exp(a.re);
    return a.im === 0 ? complex(size) : complex(size * Math.cos(a.im), size * Math.sin(a.im));
  },
  ln: (a) =>
    a.im === 0 && a.re > 0
      ? complex(Math.log(a.re))
      : complex(Math.log(Math.hypot(a.re, a.im)), Math.atan2(a.im, a.re)),
  sqrt(a) {
    if (a.im === 0) return a.re >= 0 ? complex(Math.sqrt(a.re)) : complex(0, Math.sqrt(-a.re));
    const size = Math.hypot(a.re, a.im);
    const im = Math.sqrt((size - a.re) / 2);
    return complex(Math.sqrt((size + a.re) / 2), a.im < 0 ? -im : im);
  },
  sin: (a) =>
    a.im === 0
      ? complex(Math.sin(a.re))
      : complex(Math.sin(a.re) * Math.cosh(a.im), Math.cos(a.re) * Math.sinh(a.im)),
  cos: (a) =>
    a.im === 0
      ? complex(Math.cos(a.re))
      : complex(Math.cos(a.re) * Math.cosh(a.im), -Math.sin(a.re) * Math.sinh(a.im)),
  abs: (a) => complex(Math.hypot(a.re, a.im)),
  isReal: (a) => Math.abs(a.im) <= 1e-9 * Math.abs(a.re),
  sign: (a) => Math.sign(a.re),
  floor(a) {
    const nearest = Math.round(a.re);
    if (Math.abs(nearest) > Number.MAX_SAFE_INTEGER) throw new Undefined("too large");
    const exact = Math.abs(a.re - nearest) <= NEAR * Math.max(1, Math.abs(nearest));
    return { whole: BigInt(exact ? nearest : Math.floor(a.re)), exact };
  },
};
