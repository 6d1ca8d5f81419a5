import * as q from "../exact/rational.ts";
import { MAX_TERMS } from "../limits.ts";
import { type Arithmetic, Undefined } from "./arithmetic.ts";
import type { Budget } from "./budget.ts";
import { evaluateExactly } from "./exact.ts";
import { call, type Expression, type FunctionName } from "./expression.ts";

/** @internal Values that variables have while an expression is evaluated, and what `log` without a base means. */
export interface Point {
  readonly values: ReadonlyMap<string, q.Rational>;
  readonly logBase?: 10;
}

const TWO = q.whole(2);
const LARGEST_POWER = 1 << 20;

/** @internal Evaluates expressions in one arithmetic. @throws {@link Undefined}, {@link Exhausted} */
export class Evaluator<T> {
  readonly #a: Arithmetic<T>;
  readonly #budget: Budget;
  readonly #cost: number;
  readonly #real: boolean;

  /**
   * @param cost - steps of one operation
   * @param real - whether roots and logarithms of negative numbers have no value, whatever becomes of it later
   */
  constructor(arithmetic: Arithmetic<T>, budget: Budget, cost: number, real = false) {
    this.#real = real;
    this.#a = arithmetic;
    this.#budget = budget;
    this.#cost = cost;
  }

  evaluate(expression: Expression, point: Point): T {
    this.#budget.spend(this.#cost);
    const a = this.#a;
    switch (expression.kind) {
      case "rational":
        return a.rational(expression.value);
      case "constant":
        return a.constant(expression.name);
      case "symbol": {
        const value = point.values.get(expression.name);
        if (value === undefined) throw new Undefined(expression.name);
        return a.rational(value);
      }
      case "call":
        return this.#call(expression.name, expression.args, point);
      default:
        return this.#series(expression, point);
    }
  }

  #call(name: FunctionName, args: readonly Expression[], point: Point): T {
    if (name === "factorial" || name === "binomial" || name === "mod" || name === "gcd" || name === "lcm")
      return this.#integers(name, args, point);
    if (name === "power") return this.#power(args[0]!, args[1]!, point);
    if (name === "root") return this.#root(args[0]!, args[1]!, point);
    const a = this.#a;
    const values = args.map((arg) => this.evaluate(arg, point));
    const x = values[0]!;
    switch (name) {
      case "add":
        return values.reduce((sum, value) => a.add(sum, value));
      case "multiply":
        return values.reduce((product, value) => a.multiply(product, value));
      case "divide":
        return a.divide(x, values[1]!);
      case "negate":
        return a.negate(x);
      case "sqrt":
        return a.sqrt(this.#positive(x));
      case "abs":
        return a.abs(x);
      case "exp":
        return a.exp(x);
      case "ln":
        return a.ln(this.#positive(x));
      case "log":
        return this.#log(this.#positive(x), values[1], point);
      case "sin":
        return a.sin(x);
      case "cos":
        return a.cos(x);
      case "floor":
      case "ceil":
        return this.#rounded(x, name);
      case "max":
      case "min":
        return values.reduce((best, value) => this.#extreme(best, value, name === "max" ? 1 : -1));
      default:
        return this.#derived(name, x);
    }
  }

  #positive(x: T): T {
    if (this.#real && this.#a.isReal(x) && this.#a.sign(x) < 0) throw new Undefined("of a negative number");
    return x;
  }

  #derived(name: FunctionName, x: T): T {
    const a = this.#a;
    const one = a.rational(q.ONE);
    const inverse = (value: T): T => a.divide(one, value);
    const half = (value: T): T => a.divide(value, a.rational(TWO));
    const i = a.constant("i");
    const minus = (left: T, right: T): T => a.add(left, a.negate(right));
    const square = a.multiply(x, x);
    switch (name) {
      case "tan":
        return a.divide(a.sin(x), a.cos(x));
      case "cot":
        return a.divide(a.cos(x), a.sin(x));
      case "sec":
        return inverse(a.cos(x));
      case "csc":
        return inverse(a.sin(x));
      case "sinh":
        return half(minus(a.exp(x), a.exp(a.negate(x))));
      case "cosh":
        return half(a.add(a.exp(x), a.exp(a.negate(x))));
      case "tanh":
        return a.divide(this.#derived("sinh", x), this.#derived("cosh", x));
      case "coth":
        return a.divide(this.#derived("cosh", x), this.#derived("sinh", x));
      case "arcsin":
        return a.negate(a.multiply(i, a.ln(a.add(a.multiply(i, x), a.sqrt(minus(one, square))))));
      case "arccos":
        return minus(half(a.constant("pi")), this.#derived("arcsin", x));
      case "arctan": {
        const ix = a.multiply(i, x);
        return half(a.multiply(i, minus(a.ln(minus(one, ix)), a.ln(a.add(one, ix)))));
      }
      case "arccot":
        return this.#derived("arctan", inverse(x));
      case "arsinh":
        return a.ln(a.add(x, a.sqrt(a.add(square, one))));
      case "arcosh":
        return a.ln(a.add(x, a.sqrt(minus(square, one))));
      case "artanh":
        return half(minus(a.ln(a.add(one, x)), a.ln(minus(one, x))));
      default:
        throw new Undefined(name);
    }
  }

  #log(x: T, base: T | undefined, point: Point): T {
    const a = this.#a;
    if (base !== undefined) return a.divide(a.ln(x), a.ln(base));
    return point.logBase === undefined
      ? a.ln(x)
      : a.divide(a.ln(x), a.ln(a.rational(q.whole(point.logBase))));
  }

  #power(base: Expression, exponent: Expression, point: Point): T {
    const a = this.#a;
    const exact = evaluateExactly(exponent, this.#budget, point.values);
    const e = base.kind === "constant" && base.name === "e";
    if (e && !(exact && q.isInteger(exact))) return a.exp(this.evaluate(exponent, point));
    const x = this.evaluate(base, point);
    if (exact !== undefined && q.isInteger(exact)) {
      const n = exact.numerator / exact.denominator;
      if (n > -LARGEST_POWER && n < LARGEST_POWER) return this.#integerPower(x, Number(n));
    }
    if (a.isReal(x) && a.sign(x) === 0) {
      if (exact !== undefined && q.sign(exact) > 0) return x;
      throw new Undefined("power of zero");
    }
    if (exact !== undefined && q.sameRational(exact, { numerator: 1n, denominator: 2n }))
      return a.sqrt(this.#positive(x));
    return a.exp(a.multiply(this.evaluate(exponent, point), a.ln(this.#positive(x))));
  }

  #integerPower(x: T, n: number): T {
    const a = this.#a;
    let result = a.rational(q.ONE);
    for (let k = Math.abs(n), square = x; k > 0; k = Math.floor(k / 2)) {
      if (k % 2 === 1) result = a.multiply(result, square);
      if (k > 1) square = a.multiply(square, square);
      this.#budget.spend(this.#cost);
    }
    return n < 0 ? a.divide(a.rational(q.ONE), result) : result;
  }

  // Odd roots of negative numbers are negative, as the sign of the radical means it.
  #root(base: Expression, degree: Expression, point: Point): T {
    const a = this.#a;
    const x = this.evaluate(base, point);
    const n = evaluateExactly(degree, this.#budget, point.values);
    const odd = n !== undefined && q.isInteger(n) && (n.numerator / n.denominator) % 2n !== 0n;
    const negative = odd && a.isReal(x) && a.sign(x) < 0;
    if (a.isReal(x) && a.sign(x) === 0) return x;
    const size = a.exp(a.divide(a.ln(negative ? a.negate(x) : x), this.evaluate(degree, point)));
    return negative ? a.negate(size) : size;
  }

  #rounded(x: T, name: "floor" | "ceil"): T {
    if (!this.#a.isReal(x)) throw new Undefined(name);
    const { whole, exact } = this.#a.floor(x);
    return this.#a.rational(q.whole(name === "ceil" && !exact ? whole + 1n : whole));
  }

  #extreme(best: T, value: T, direction: number): T {
    if (!this.#a.isReal(best) || !this.#a.isReal(value)) throw new Undefined("order");
    return this.#a.sign(this.#a.add(value, this.#a.negate(best))) * direction > 0 ? value : best;
  }

  // Functions of integers are exact or nothing.
  #integers(name: FunctionName, args: readonly Expression[], point: Point): T {
    const values = args.map((arg) => {
      const exact = evaluateExactly(arg, this.#budget, point.values);
      if (exact !== undefined) return exact;
      const { whole, exact: isWhole } = this.#a.floor(this.evaluate(arg, point));
      if (!isWhole) throw new Undefined(name);
      return q.whole(whole);
    });
    const constants = values.map((value): Expression => ({ kind: "rational", value }));
    const result = evaluateExactly(call(name, ...constants), this.#budget);
    if (result === undefined) throw new Undefined(name);
    return this.#a.rational(result);
  }

  #series(expression: Extract<Expression, { kind: "sum" | "product" }>, point: Point): T {
    const a = this.#a;
    const limits = [expression.from, expression.to].map((limit) =>
      evaluateExactly(limit, this.#budget, point.values),
    );
    const [low, high] = limits;
    if (low === undefined || high === undefined || !q.isInteger(low) || !q.isInteger(high))
      throw new Undefined("limits");
    const [first, last] = [low.numerator / low.denominator, high.numerator / high.denominator];
    if (last - first > BigInt(MAX_TERMS)) throw new Undefined("terms");
    let total = a.rational(expression.kind === "sum" ? q.ZERO : q.ONE);
    for (let k = first; k <= last; k++) {
      const values = new Map([...point.values, [expression.index, q.whole(k)]]);
      const term = this.evaluate(expression.body, { ...point, values });
      total = expression.kind === "sum" ? a.add(total, term) : a.multiply(total, term);
    }
    return total;
  }
}
