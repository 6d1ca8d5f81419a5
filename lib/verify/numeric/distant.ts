import { isInteger, multiply, type Rational, whole } from "../exact/rational.ts";
import { mixedPoint } from "./sample.ts";

const fraction = (numerator: bigint, denominator: bigint): Rational => ({ numerator, denominator });

/** Where a real variable is taken beside a constant, as multiples of it. */
const BESIDE = [
  fraction(17n, 16n),
  fraction(15n, 16n),
  fraction(-17n, 16n),
  fraction(-15n, 16n),
  fraction(1n, 2n),
  fraction(-1n, 2n),
  fraction(3n, 1n),
];
/** And where else. */
const FAR = [413n, -413n, 9771n, -9771n, 314_159n, -314_159n].map((tenths) => fraction(tenths, 10n));
const FAR_INTEGERS = [29n, 100n, 1001n].map(whole);
const MOST_VARIABLES = 4;

/**
 * @internal Points far out and beside the constants of an expression, one variable at a time: where a function that is
 * the same near zero may be another one. |x + 50| is x + 50 on all but one side of -50.
 */
export function distantPoints(
  names: ReadonlySet<string>,
  integers: ReadonlySet<string>,
  constants: readonly Rational[],
): Map<string, Rational>[] {
  const base = mixedPoint(integers)(names, 0);
  const points: Map<string, Rational>[] = [];
  for (const name of [...names].slice(0, MOST_VARIABLES)) {
    const values = integers.has(name)
      ? [...FAR_INTEGERS, ...constants.flatMap(integersBeside)]
      : [...FAR, ...constants.flatMap((value) => BESIDE.map((times) => multiply(value, times)!))];
    for (const value of values) points.push(new Map([...base, [name, value]]));
  }
  return points;
}

function integersBeside(value: Rational): Rational[] {
  if (!isInteger(value)) return [];
  const c = value.numerator / value.denominator;
  return [c - 1n, c, c + 1n, 2n * c, 3n * c].filter((n) => n > 0n).map(whole);
}
