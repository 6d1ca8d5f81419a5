import type { Rational } from "../exact/rational.ts";

/** @internal Thrown where a value does not exist, or cannot be told. No Error: it is common, and a stack trace is dear. */
export class Undefined {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** @internal Complex arithmetic of some precision; what is not here is made from it in `evaluate`. */
export interface Arithmetic<T> {
  rational(value: Rational): T;
  constant(name: "pi" | "e" | "i"): T;
  add(a: T, b: T): T;
  multiply(a: T, b: T): T;
  /** @throws {@link Undefined} for a divisor that may be zero */
  divide(a: T, b: T): T;
  negate(a: T): T;
  exp(a: T): T;
  /** Principal value. @throws {@link Undefined} at zero */
  ln(a: T): T;
  /** Principal value. */
  sqrt(a: T): T;
  sin(a: T): T;
  cos(a: T): T;
  abs(a: T): T;
  isReal(a: T): boolean;
  /** -1, 0 or 1 for a real number. */
  sign(a: T): number;
  /** The integer that a real number is or is nearest below, and whether it is that integer. */
  floor(a: T): { whole: bigint; exact: boolean };
}
