import { bits, isInteger, type Rational } from "../exact/rational.ts";
import { type Expression, variables, visit } from "./expression.ts";

/** @internal What expressions say about their variables. */
export interface Character {
  /** Variables that only take integers, by where they stand or, within a rounding, by their letter. */
  readonly integers: ReadonlySet<string>;
  readonly imaginary: boolean;
  /** There is a logarithm without base. */
  readonly bareLog: boolean;
  /** Some function has another form elsewhere on the line, so that near points do not tell all. */
  readonly piecewise: boolean;
}

const OF_INTEGERS = new Set(["factorial", "binomial", "mod", "gcd", "lcm"]);
const ROUNDINGS = new Set(["floor", "ceil"]);
const PIECEWISE = new Set(["abs", "max", "min", "floor", "ceil", "mod", "gcd", "lcm", "sqrt", "root"]);
const INTEGER_LETTER = /^[i-nprNMK](_|$)/;

/** @internal */
export function character(expressions: readonly Expression[]): Character {
  const integers = new Set<string>();
  let [imaginary, bareLog, piecewise] = [false, false, false];
  const whole = (part: Expression, which: (name: string) => boolean): void => {
    for (const name of variables(part)) if (which(name)) integers.add(name);
  };
  for (const expression of expressions) {
    visit(expression, (part) => {
      if (part.kind === "constant" && part.name === "i") imaginary = true;
      if (part.kind === "sum" || part.kind === "product") {
        whole(part.from, () => true);
        whole(part.to, () => true);
      }
      if (part.kind !== "call") return;
      if (PIECEWISE.has(part.name)) piecewise = true;
      if (part.name === "log" && part.args.length === 1) bareLog = true;
      if (OF_INTEGERS.has(part.name)) for (const arg of part.args) whole(arg, () => true);
      if (ROUNDINGS.has(part.name))
        for (const arg of part.args) whole(arg, (name) => INTEGER_LETTER.test(name));
    });
  }
  return { integers, imaginary, bareLog, piecewise };
}

/** Bits of a constant that is worth a look at. */
const MOST_BITS = 64;
const MOST_CONSTANTS = 8;

/** @internal Sizes of the constants in expressions, where a function may change its form. */
export function constants(expressions: readonly Expression[]): readonly Rational[] {
  const found = new Map<string, Rational>();
  for (const expression of expressions) {
    visit(expression, (part) => {
      if (part.kind !== "rational" || part.value.numerator === 0n) return;
      const { numerator, denominator } = part.value;
      if (bits(numerator) + bits(denominator) > MOST_BITS) return;
      const size = { numerator: numerator < 0n ? -numerator : numerator, denominator };
      found.set(`${size.numerator}/${denominator}`, size);
    });
  }
  return [...found.values()]
    .toSorted((x, y) => Number(isInteger(y)) - Number(isInteger(x)))
    .slice(0, MOST_CONSTANTS);
}
