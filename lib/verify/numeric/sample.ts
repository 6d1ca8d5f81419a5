import type { Rational } from "../exact/rational.ts";

// Points depend on the names of the variables only: the same pair gets the same points in every run and thread.
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h ^= h >>> 15;
  h = Math.imul(h, 0x2c1b3c6d);
  h ^= h >>> 12;
  return h >>> 0;
}

/** @internal Parts of the real line that variables are taken from, in turn. */
const RANGES: readonly (readonly [number, number])[] = [
  [0.3, 2.2],
  [1.1, 4.3],
  [0.05, 0.95],
  [-2.2, -0.3],
  [2.5, 9.5],
  [-0.95, -0.05],
  [-4.3, -1.1],
  [0.3, 2.2],
  [-3.1, 3.1],
  [0.9, 1.8],
];

/** @internal How many points {@link realPoint} and {@link integerPoint} have. */
export const POINTS = RANGES.length;

/** @internal Values for variables, from the k-th part of the real line; exact fractions that are also doubles. */
export function realPoint(names: Iterable<string>, k: number): Map<string, Rational> {
  const [low, high] = RANGES[k % POINTS]!;
  const values = new Map<string, Rational>();
  for (const name of names) {
    const u = hash(`${k} ${name}`) / 2 ** 32;
    values.set(name, {
      numerator: BigInt(Math.round((low + (high - low) * u) * 2 ** 20)) | 1n,
      denominator: 1n << 20n,
    });
  }
  return values;
}

/** @internal Positive integers for variables; larger ones first, for names that come first in the alphabet last. */
export function integerPoint(names: Iterable<string>, k: number): Map<string, Rational> {
  const values = new Map<string, Rational>();
  for (const name of names) {
    const spread = hash(`${k} ${name} n`) % (4 + k);
    values.set(name, {
      numerator: BigInt(1 + spread + (name === "n" || name === "N" ? 3 + k : 0)),
      denominator: 1n,
    });
  }
  return values;
}

/** @internal Integers for the variables that only take such, real numbers for the others. */
export function mixedPoint(integers: ReadonlySet<string>): typeof realPoint {
  return (names, k) => {
    const all = [...names];
    const real = realPoint(
      all.filter((name) => !integers.has(name)),
      k,
    );
    const whole = integerPoint(
      all.filter((name) => integers.has(name)),
      k,
    );
    return new Map([...real, ...whole]);
  };
}
