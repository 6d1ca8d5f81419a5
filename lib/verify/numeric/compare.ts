import { type Rational, sameRational } from "../exact/rational.ts";
import type { Outcome } from "../structure/value.ts";
import { Undefined } from "./arithmetic.ts";
import { type Ball, BallArithmetic, sizeOf } from "./balls.ts";
import { type Budget, Exhausted } from "./budget.ts";
import { character, constants } from "./character.ts";
import { distantPoints } from "./distant.ts";
import { type Complex, doubles } from "./doubles.ts";
import { Evaluator, type Point } from "./evaluate.ts";
import { evaluateExactly } from "./exact.ts";
import { call, type Expression, variables } from "./expression.ts";
import { integerPoint, mixedPoint, POINTS, type realPoint } from "./sample.ts";

/** Relative difference of doubles that may be rounding. */
const TOLERANCE = 1e-9;
/** Bits that must agree, behind the point and of small numbers, before two numbers are the same: 43 digits. */
const AGREEING_BITS = 143;
/** Points at which both sides must exist. */
const FEWEST = 3;
/** Points that are computed with many digits. */
const PRECISE = 2;
/** Steps for a look at points far out. */
const DISTANT_STEPS = 6000;

/** Arithmetics from coarse to fine, and the steps that one operation costs. */
const precisions = [
  { arithmetic: new BallArithmetic(256), cost: 20 },
  { arithmetic: new BallArithmetic(1024), cost: 100 },
  { arithmetic: new BallArithmetic(4096), cost: 1500 },
];

/** @internal Whether two expressions have the same value, at every point where both are real. */
export function compareExpressions(a: Expression, b: Expression, budget: Budget): Outcome {
  const exact = [evaluateExactly(a, budget), evaluateExactly(b, budget)] as const;
  if (exact[0] !== undefined && exact[1] !== undefined)
    return sameRational(exact[0], exact[1]) ? "equal" : "different";
  const { bareLog } = character([a, b]);
  const outcome = compareAt(a, b, budget, undefined);
  return bareLog && outcome !== "equal" && compareAt(a, b, budget, 10) === "equal" ? "equal" : outcome;
}

function compareAt(a: Expression, b: Expression, budget: Budget, logBase: 10 | undefined): Outcome {
  const names = new Set([...variables(a), ...variables(b)]);
  const { integers, imaginary, piecewise } = character([a, b]);
  const points = (make: typeof realPoint): Point[] =>
    Array.from({ length: names.size === 0 ? 1 : POINTS }, (_, k) => ({
      values: make(names, k),
      ...(logBase === undefined ? {} : { logBase }),
    }));
  const complexAllowed = imaginary || names.size === 0;
  let outcome = compareOn(points(mixedPoint(integers)), a, b, complexAllowed, budget);
  if (outcome === "unknown" && names.size > 0)
    outcome = compareOn(points(integerPoint), a, b, complexAllowed, budget);
  if (outcome !== "equal" || !piecewise || names.size === 0) return outcome;
  const far = distantPoints(names, integers, constants([a, b])).map((values) => ({
    values,
    ...(logBase === undefined ? {} : { logBase }),
  }));
  return partFarAway(far, a, b, complexAllowed, budget) ? "different" : outcome;
}

/** Whether two expressions that agree so far are apart at some point where both are finite and real. */
function partFarAway(
  points: readonly Point[],
  a: Expression,
  b: Expression,
  complexAllowed: boolean,
  budget: Budget,
): boolean {
  const share = budget.share(DISTANT_STEPS);
  const quick = new Evaluator<Complex>(doubles, share, 0.2, !complexAllowed);
  try {
    return points.some((point) => {
      const [x, y] = [attempt(() => quick.evaluate(a, point)), attempt(() => quick.evaluate(b, point))];
      if (x === undefined || y === undefined || nearby(x, y)) return false;
      if (!complexAllowed && !(doubles.isReal(x) && doubles.isReal(y))) return false;
      return comparePrecisely(a, b, point, complexAllowed, share) === "different";
    });
  } catch (error) {
    // Where a look is dear, what was seen before it counts.
    if (error instanceof Exhausted && share.exhausted) return false;
    throw error;
  }
}

function compareOn(
  points: readonly Point[],
  a: Expression,
  b: Expression,
  complexAllowed: boolean,
  budget: Budget,
): Outcome {
  const quick = new Evaluator<Complex>(doubles, budget, 0.2, !complexAllowed);
  const real = (value: Complex): boolean => complexAllowed || doubles.isReal(value);
  let agreeing = 0;
  let settled = 0;
  for (const point of points) {
    const [x, y] = [attempt(() => quick.evaluate(a, point)), attempt(() => quick.evaluate(b, point))];
    const outside = (x !== undefined && !real(x)) || (y !== undefined && !real(y));
    if (outside) continue;
    const near = x !== undefined && y !== undefined && nearby(x, y);
    if (near && settled >= PRECISE) {
      agreeing++;
      continue;
    }
    const precise = comparePrecisely(a, b, point, complexAllowed, budget);
    if (precise === "different") return "different";
    if (precise === "equal") settled++;
    if (precise === "equal" || (near && precise === "unknown")) agreeing++;
  }
  return agreeing >= Math.min(FEWEST, points.length) && settled > 0 ? "equal" : "unknown";
}

function nearby(x: Complex, y: Complex): boolean {
  const size = Math.max(Math.hypot(x.re, x.im), Math.hypot(y.re, y.im));
  return Math.hypot(x.re - y.re, x.im - y.im) <= TOLERANCE * size;
}

function attempt<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch (error) {
    if (error instanceof Undefined) return undefined;
    throw error;
  }
}

function comparePrecisely(
  a: Expression,
  b: Expression,
  point: Point,
  complexAllowed: boolean,
  budget: Budget,
): Outcome {
  for (const { arithmetic, cost } of precisions) {
    const evaluator = new Evaluator<Ball>(arithmetic, budget, cost, !complexAllowed);
    const [x, y] = [attempt(() => evaluator.evaluate(a, point)), attempt(() => evaluator.evaluate(b, point))];
    if (x === undefined || y === undefined) return "unknown";
    if (!complexAllowed && !(arithmetic.isReal(x) && arithmetic.isReal(y))) return "unknown";
    const outcome = compareBalls(arithmetic, x, y);
    if (outcome !== "unknown") return outcome;
  }
  return "unknown";
}

function compareBalls(arithmetic: BallArithmetic, x: Ball, y: Ball): Outcome {
  const difference = arithmetic.add(x, arithmetic.negate(y));
  const error = Math.max(x.error, y.error) + 2;
  if (sizeOf(difference) > error) return "different";
  const size = Math.max(sizeOf(x), sizeOf(y));
  // A large number must agree behind its point: 57! + 1 is not 57!.
  const scale = size === Number.NEGATIVE_INFINITY ? 0 : Math.min(size, 0);
  return error < scale - AGREEING_BITS ? "equal" : "unknown";
}

/**
 * @internal Whether one expression is a constant multiple of another: they vanish together. With `positive`, the factor
 * must be above zero.
 */
export function compareUpToFactor(a: Expression, b: Expression, positive: boolean, budget: Budget): Outcome {
  const names = new Set([...variables(a), ...variables(b)]);
  if (names.size === 0) return "unknown";
  const evaluator = new Evaluator<Complex>(doubles, budget, 0.2);
  const { integers } = character([a, b]);
  const usable: Point[] = [];
  let direction = 0;
  for (let k = 0; k < POINTS; k++) {
    const point = { values: mixedPoint(integers)(names, k) };
    const [x, y] = [attempt(() => evaluator.evaluate(a, point)), attempt(() => evaluator.evaluate(b, point))];
    if (x === undefined || y === undefined) continue;
    if (x.re === 0 && x.im === 0 && y.re === 0 && y.im === 0) continue;
    usable.push(point);
    direction ||= Math.sign(x.re * y.re + x.im * y.im);
  }
  const [first, ...others] = usable;
  if (first === undefined || others.length < FEWEST - 1) return "unknown";
  if (positive && direction < 0) return "different";
  // a(p) b(q) = a(q) b(p), one point against each of the others.
  const fixed = (expression: Expression, point: Point): Expression => substitute(expression, point.values);
  for (const other of others.slice(0, 4)) {
    const outcome = compareExpressions(
      call("multiply", fixed(a, first), fixed(b, other)),
      call("multiply", fixed(a, other), fixed(b, first)),
      budget,
    );
    if (outcome !== "equal") return outcome;
  }
  return vanishes(a, first, budget) || vanishes(b, first, budget) ? "different" : "equal";
}

function vanishes(expression: Expression, point: Point, budget: Budget): boolean {
  const zero: Expression = { kind: "rational", value: { numerator: 0n, denominator: 1n } };
  return compareExpressions(substitute(expression, point.values), zero, budget) === "equal";
}

function substitute(expression: Expression, values: ReadonlyMap<string, Rational>): Expression {
  if (expression.kind === "symbol") {
    const value = values.get(expression.name);
    return value === undefined ? expression : { kind: "rational", value };
  }
  if (expression.kind === "call")
    return { ...expression, args: expression.args.map((arg) => substitute(arg, values)) };
  if (expression.kind !== "sum" && expression.kind !== "product") return expression;
  const inner = new Map([...values].filter(([name]) => name !== expression.index));
  return {
    ...expression,
    from: substitute(expression.from, values),
    to: substitute(expression.to, values),
    body: substitute(expression.body, inner),
  };
}

/** @internal The value of a constant expression as a double; undefined for what has none. */
export function toDouble(expression: Expression, budget: Budget): number | undefined {
  const value = attempt(() =>
    new Evaluator<Complex>(doubles, budget, 0.2).evaluate(expression, { values: new Map() }),
  );
  return value !== undefined && doubles.isReal(value) ? value.re : undefined;
}
