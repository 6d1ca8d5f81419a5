import * as q from "../exact/rational.ts";
import type { Rational } from "../exact/rational.ts";
import { MAX_BITS, MAX_TERMS } from "../limits.ts";
import type { Budget } from "./budget.ts";
import type { Expression } from "./expression.ts";

type Bindings = ReadonlyMap<string, Rational>;

const NONE: Bindings = new Map();

/** @internal The exact value of an expression that has one within the limits; undefined otherwise. */
export function evaluateExactly(
  expression: Expression,
  budget: Budget,
  bindings: Bindings = NONE,
): Rational | undefined {
  budget.spend(1);
  if (expression.kind === "rational") return expression.value;
  if (expression.kind === "symbol") return bindings.get(expression.name);
  if (expression.kind === "constant") return undefined;
  if (expression.kind !== "call") return series(expression, budget, bindings);
  const args: Rational[] = [];
  for (const arg of expression.args) {
    const value = evaluateExactly(arg, budget, bindings);
    if (value === undefined) return undefined;
    args.push(value);
  }
  const size = args.reduce(
    (sum, { numerator, denominator }) => sum + q.bits(numerator) + q.bits(denominator),
    0,
  );
  budget.spend(1 + size / 1000);
  return compute(expression.name, args, budget);
}

function fold(
  args: readonly Rational[],
  combine: (a: Rational, b: Rational) => Rational | undefined,
): Rational | undefined {
  return args.reduce<Rational | undefined>(
    (all, one, i) => (i === 0 ? one : all && combine(all, one)),
    undefined,
  );
}

function compute(name: string, args: readonly Rational[], budget: Budget): Rational | undefined {
  const [a, b] = args as [Rational, Rational | undefined];
  switch (name) {
    case "add":
      return fold(args, q.add);
    case "multiply":
      return fold(args, q.multiply);
    case "divide":
      return b && q.divide(a, b);
    case "negate":
      return q.negate(a);
    case "power":
      return b && powerOf(a, b, budget);
    case "sqrt":
      return rootOf(a, 2);
    case "root":
      return b && q.isInteger(b) ? rootOf(a, Number(integer(b))) : undefined;
    case "abs":
      return q.sign(a) < 0 ? q.negate(a) : a;
    case "floor":
      return q.floor(a);
    case "ceil":
      return q.negate(q.floor(q.negate(a)));
    case "factorial":
      return q.isInteger(a) ? factorial(integer(a), budget) : undefined;
    case "binomial":
      return b && binomial(a, b, budget);
    case "mod":
      return b && q.sign(b) !== 0 ? modulo(a, b) : undefined;
    case "gcd":
    case "lcm":
      return args.every(q.isInteger) ? fold(args, name === "gcd" ? gcd : lcm) : undefined;
    case "max":
      return fold(args, (x, y) => (q.sign(difference(x, y)) > 0 ? x : y));
    case "min":
      return fold(args, (x, y) => (q.sign(difference(x, y)) < 0 ? x : y));
    default:
      return undefined;
  }
}

const integer = (a: Rational): bigint => a.numerator / a.denominator;

function difference(x: Rational, y: Rational): Rational {
  return {
    numerator: x.numerator * y.denominator - y.numerator * x.denominator,
    denominator: x.denominator * y.denominator,
  };
}

function powerOf(a: Rational, b: Rational, budget: Budget): Rational | undefined {
  if (q.sign(a) === 0) return q.sign(b) > 0 ? a : undefined;
  if (q.isInteger(b)) {
    budget.spend((q.bits(a.numerator) + q.bits(a.denominator)) / 8);
    return q.power(a, integer(b));
  }
  if (b.denominator > 64n || q.bits(b.numerator) > 32) return undefined;
  const base = rootOf(a, Number(b.denominator));
  return base && q.sign(a) > 0 ? q.power(base, b.numerator) : undefined;
}

function rootOf(a: Rational, k: number): Rational | undefined {
  if (!Number.isSafeInteger(k) || k < 1 || k > 64 || q.bits(a.numerator) + q.bits(a.denominator) > 4096)
    return undefined;
  if (q.sign(a) >= 0) return q.root(a, k);
  const positive = k % 2 === 1 ? q.root(q.negate(a), k) : undefined;
  return positive && q.negate(positive);
}

function factorial(n: bigint, budget: Budget): Rational | undefined {
  if (n < 0n || n > 5000n) return undefined;
  let product = 1n;
  for (let k = 2n; k <= n; k++) product *= k;
  budget.spend(Number(n));
  return q.whole(product);
}

function binomial(a: Rational, b: Rational, budget: Budget): Rational | undefined {
  if (!q.isInteger(a) || !q.isInteger(b)) return undefined;
  const [n, k] = [integer(a), integer(b)];
  if (k < 0n || n < 0n || n > 100_000n) return n >= 0n && k < 0n ? q.ZERO : undefined;
  if (k > n) return q.ZERO;
  let short = k;
  if (n - k < k) short = n - k;
  if (short > 5000n) return undefined;
  let product = 1n;
  for (let i = 1n; i <= short; i++) product = (product * (n - short + i)) / i;
  budget.spend(Number(short));
  return q.bits(product) > MAX_BITS ? undefined : q.whole(product);
}

function modulo(a: Rational, b: Rational): Rational | undefined {
  const quotient = q.divide(a, b);
  const product = quotient && q.multiply(q.floor(quotient), b);
  return product && q.add(a, q.negate(product));
}

function gcd(a: Rational, b: Rational): Rational {
  let [x, y] = [integer(a), integer(b)];
  while (y !== 0n) [x, y] = [y, x % y];
  return q.whole(x < 0n ? -x : x);
}

function lcm(a: Rational, b: Rational): Rational | undefined {
  const divisor = gcd(a, b);
  return divisor.numerator === 0n ? divisor : q.multiply(q.whole(integer(a) / divisor.numerator), b);
}

function series(
  { kind, index, from, to, body }: Extract<Expression, { kind: "sum" | "product" }>,
  budget: Budget,
  bindings: Bindings,
): Rational | undefined {
  const [low, high] = [evaluateExactly(from, budget, bindings), evaluateExactly(to, budget, bindings)];
  if (low === undefined || high === undefined || !q.isInteger(low) || !q.isInteger(high)) return undefined;
  const [first, last] = [integer(low), integer(high)];
  if (last - first > BigInt(MAX_TERMS)) return undefined;
  let total: Rational | undefined = kind === "sum" ? q.ZERO : q.ONE;
  for (let k = first; k <= last && total !== undefined; k++) {
    const term = evaluateExactly(body, budget, new Map([...bindings, [index, q.whole(k)]]));
    total = term && (kind === "sum" ? q.add(total, term) : q.multiply(total, term));
  }
  return total;
}
