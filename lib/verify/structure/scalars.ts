import * as q from "../exact/rational.ts";
import type { Rational } from "../exact/rational.ts";
import { Unreadable } from "../limits.ts";
import type { Token } from "../normalize/token.ts";
import type { Budget } from "../numeric/budget.ts";
import { compareExpressions, toDouble } from "../numeric/compare.ts";
import { call, type Expression } from "../numeric/expression.ts";
import { readExpression } from "../numeric/reader.ts";
import type { Unit } from "./units.ts";
import type { Outcome, Scalar } from "./value.ts";

/** Factors that a mark may stand for: 25 % is 25 or 0.25, 90 degrees are 90 or pi/2. */
function meanings(scalar: Scalar, other: Scalar): readonly (Expression | undefined)[] {
  if (scalar.mark === undefined || scalar.mark === other.mark) return [undefined];
  if (scalar.mark === "percent") return [undefined, constant({ numerator: 1n, denominator: 100n })];
  const pi: Expression = { kind: "constant", name: "pi" };
  return [undefined, call("divide", pi, constant(q.whole(180)))];
}

function constant(value: Rational): Expression {
  return { kind: "rational", value };
}

/** @internal Compares two numbers or expressions with their units and signs. */
export function compareScalars(a: Scalar, b: Scalar, budget: Budget): Outcome {
  const scale = compareUnits(a.unit, b.unit);
  if (scale === undefined) return "different";
  let outcome: Outcome = "different";
  for (const left of meanings(a, b)) {
    for (const right of meanings(b, a)) {
      const found = compareScaled(a, [left, factorOf(scale.a)], b, [right, factorOf(scale.b)], budget);
      if (found === "equal") return found;
      if (found === "unknown") outcome = found;
    }
  }
  return outcome;
}

/** Factors that bring both to one unit; undefined when they measure different things. A missing unit fits any. */
function compareUnits(a: Unit | undefined, b: Unit | undefined): { a: Rational; b: Rational } | undefined {
  const counts = { a: a?.count ?? q.ONE, b: b?.count ?? q.ONE };
  if (!a?.dimension || !b?.dimension) return counts;
  if (a.dimension !== b.dimension) return undefined;
  const [x, y] = [q.multiply(counts.a, a.factor), q.multiply(counts.b, b.factor)];
  return x && y && { a: x, b: y };
}

function factorOf(value: Rational): Expression | undefined {
  return q.sameRational(value, q.ONE) ? undefined : constant(value);
}

type Factors = readonly (Expression | undefined)[];

function compareScaled(a: Scalar, as: Factors, b: Scalar, bs: Factors, budget: Budget): Outcome {
  const [x, y] = [scaledExactly(a.exact, as), scaledExactly(b.exact, bs)];
  const reach = scaledExactly(a.rounding, as) ?? scaledExactly(b.rounding, bs);
  if (x !== undefined && y !== undefined) {
    if (q.sameRational(x, y)) return "equal";
    const apart = reach && q.add(x, q.negate(y));
    return apart && within(apart, reach) ? "equal" : "different";
  }
  try {
    const [left, right] = [scaled(a, as), scaled(b, bs)];
    if (reach !== undefined) {
      const apart = toDouble(call("add", left, call("negate", right)), budget);
      if (apart !== undefined) return Math.abs(apart) <= q.toNumber(reach) ? "equal" : "different";
    }
    return compareExpressions(left, right, budget);
  } catch (error) {
    if (error instanceof Unreadable) return "unknown";
    throw error;
  }
}

function within(apart: Rational, reach: Rational): boolean {
  const beyond = q.add(q.sign(apart) < 0 ? q.negate(apart) : apart, q.negate(reach));
  return beyond !== undefined && q.sign(beyond) <= 0;
}

function scaledExactly(exact: Rational | undefined, factors: Factors): Rational | undefined {
  let value = exact;
  for (const factor of factors) {
    if (factor === undefined) continue;
    value = factor.kind === "rational" && value !== undefined ? q.multiply(value, factor.value) : undefined;
  }
  return value;
}

function scaled(scalar: Scalar, factors: Factors): Expression {
  const found = factors.filter((factor) => factor !== undefined);
  const value = expressionOf(scalar);
  return found.length === 0 ? value : call("multiply", value, ...found);
}

/** @internal What a scalar's tokens mean. @throws {@link Unreadable} */
export function expressionOf({
  exact,
  tokens,
}: {
  exact?: Rational | undefined;
  tokens: readonly Token[];
}): Expression {
  return exact === undefined ? readOnce(tokens) : constant(exact);
}

// An element of a list is compared with every element of the other one, but read once.
const known = new WeakMap<readonly Token[], Expression | Unreadable>();

function readOnce(tokens: readonly Token[]): Expression {
  let found = known.get(tokens);
  if (found === undefined) {
    found = attempt(tokens);
    known.set(tokens, found);
  }
  if (found instanceof Unreadable) throw found;
  return found;
}

function attempt(tokens: readonly Token[]): Expression | Unreadable {
  try {
    return readExpression(tokens);
  } catch (error) {
    if (error instanceof Unreadable) return error;
    throw error;
  }
}
