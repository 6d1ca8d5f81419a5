import { ArgumentError } from "../../errors.ts";
import { assertCount, assertNumber } from "../../validate.ts";

/** A mean over problems with its 95 % confidence interval; numbers are shares of 1. */
export interface Estimate {
  /** The mean, in [0, 1]. */
  readonly value: number;
  /** Lower end; NaN when there is none (one problem whose value is no yes or no). */
  readonly low: number;
  /** Upper end. */
  readonly high: number;
  /** Standard error over problems: sqrt(sum (x_i - mean)^2 / (N - 1) / N); NaN for one problem. */
  readonly standardError: number;
  /** N, the number of problems. */
  readonly problems: number;
}

/** The 97.5 % quantile of the normal distribution. */
const Z = 1.959963984540054;

/**
 * Unbiased estimate of the chance that one of k samples is right, from n samples of which c are:
 * 1 - C(n - c, k) / C(n, k), as the product 1 - prod over i = n - c + 1 .. n of (1 - k / i), which does not overflow.
 * Source: Chen et al. 2021, "Evaluating large language models trained on code".
 *
 * @param n - samples, >= 1
 * @param c - right ones, in [0, n]
 * @param k - in [1, n]
 * @throws {@link index.ArgumentError | ArgumentError} `ERR_ARGUMENT_VALUE`
 */
export function passAtK(n: number, c: number, k: number): number {
  assertCount(n, "n");
  assertCount(c, "c");
  assertCount(k, "k");
  assertNumber(c, "c", { high: n });
  assertNumber(k, "k", { low: 1, high: n });
  if (n - c < k) return 1;
  let none = 1;
  for (let i = n - c + 1; i <= n; i++) none *= 1 - k / i;
  return 1 - none;
}

/**
 * Wilson's 95 % score interval of a share: (p + z²/2n ± z sqrt(p (1 - p) / n + z²/4n²)) / (1 + z²/n), z = 1.96.
 * Inside [0, 1], and of positive width also at 0 and n. Source: Wilson 1927.
 *
 * @param right - successes, in [0, n]
 * @param n - trials, >= 1
 * @throws {@link index.ArgumentError | ArgumentError} `ERR_ARGUMENT_VALUE`
 */
export function wilson(
  right: number,
  n: number,
): {
  /** Lower end, in [0, 1]; 0 when nothing is right. */
  low: number;
  /** Upper end, in [0, 1]; 1 when all are right. */
  high: number;
} {
  assertCount(right, "right");
  assertCount(n, "n");
  assertNumber(n, "n", { low: 1 });
  assertNumber(right, "right", { high: n });
  const p = right / n;
  const squared = (Z * Z) / n;
  const half = Z * Math.sqrt((p * (1 - p)) / n + squared / (4 * n));
  const end = (sign: 1 | -1) => (p + squared / 2 + sign * half) / (1 + squared);
  // Rounding must not cut off the observed share itself.
  return { low: right === 0 ? 0 : Math.max(0, end(-1)), high: right === n ? 1 : Math.min(1, end(1)) };
}

/**
 * Mean of one value per problem. Where every problem is a yes or no (one sample, a vote, pass@n) the interval is
 * Wilson's, and so it is where all values are 0 or all are 1, which have no spread. Else it is mean ± 1.96 standard
 * errors, cut to [0, 1]: problems are independent, samples of one problem are not, so the spread is taken over problems.
 *
 * @param values - in [0, 1], one per problem
 * @param binary - whether the values are 0 or 1 by construction
 * @throws {@link index.ArgumentError | ArgumentError} `ERR_SHAPE` for no problems, `ERR_ARGUMENT_VALUE` for a value outside [0, 1] or NaN
 */
export function estimate(values: readonly number[], binary: boolean): Estimate {
  const n = values.length;
  if (n === 0) throw new ArgumentError("ERR_SHAPE", "values: expected at least one problem, got none");
  for (const [i, value] of values.entries()) assertNumber(value, `values[${i}]`, { low: 0, high: 1 });
  const sum = values.reduce((total, value) => total + value, 0);
  const value = sum / n;
  const spread = values.reduce((total, x) => total + (x - value) ** 2, 0);
  const standardError = n > 1 ? Math.sqrt(spread / (n - 1) / n) : Number.NaN;
  const interval = binary || sum === 0 || sum === n ? wilson(sum, n) : around(value, standardError);
  return { value, ...interval, standardError, problems: n };
}

function around(value: number, standardError: number): { low: number; high: number } {
  const reach = Z * standardError;
  return { low: Math.max(0, value - reach), high: Math.min(1, value + reach) };
}

/**
 * The unweighted mean of several datasets' values, as in PURE's table: a set of 30 problems counts as much as one of 675.
 * Its standard error is sqrt(sum of squared standard errors) / number of datasets.
 *
 * @throws {@link index.ArgumentError | ArgumentError} `ERR_SHAPE` for no datasets
 */
export function average(estimates: readonly Estimate[]): Estimate {
  const n = estimates.length;
  if (n === 0) throw new ArgumentError("ERR_SHAPE", "estimates: expected at least one, got none");
  const total = (pick: (one: Estimate) => number) => estimates.reduce((sum, one) => sum + pick(one), 0);
  const value = total((one) => one.value) / n;
  const standardError = Math.sqrt(total((one) => one.standardError ** 2)) / n;
  return { value, ...around(value, standardError), standardError, problems: total((one) => one.problems) };
}
