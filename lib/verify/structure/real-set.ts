import { Unreadable } from "../limits.ts";
import { is, type Token } from "../normalize/token.ts";
import type { Budget } from "../numeric/budget.ts";
import { toDouble } from "../numeric/compare.ts";
import { isSymbol } from "./names.ts";
import { readScalar } from "./scalar.ts";
import { compareScalars, expressionOf } from "./scalars.ts";
import type { Outcome, Relation, Scalar, Tuple, Value } from "./value.ts";

/** @internal An end of an interval: its place on the line, and what was written. */
interface End {
  readonly at: number;
  readonly scalar: Scalar | undefined;
  readonly closed: boolean;
}

interface Interval {
  readonly low: End;
  readonly high: End;
}

/** @internal A set of real numbers: intervals from left to right that do not touch. */
export type RealSet = readonly Interval[];

const LEFT: End = { at: Number.NEGATIVE_INFINITY, scalar: undefined, closed: false };
const RIGHT: End = { at: Number.POSITIVE_INFINITY, scalar: undefined, closed: false };
const LINE: RealSet = [{ low: LEFT, high: RIGHT }];

/** @internal The variable that a set is about, where a relation says so. */
export interface Solution {
  readonly set: RealSet;
  readonly name: string | undefined;
}

/** @internal Reads an interval, union, inequality or finite set with ends that are numbers; undefined for all else. */
export function readRealSet(value: Value, budget: Budget): Solution | undefined {
  switch (value.kind) {
    case "tuple":
      return unnamed(interval(value, budget));
    case "relation":
      return inequality(value, budget);
    case "sets": {
      const parts = value.parts.map((part) => readRealSet(part, budget)?.set);
      if (parts.some((part) => part === undefined)) return undefined;
      return unnamed(parts.reduce((all, part, i) => combine(all!, part!, value.operators[i - 1]!)));
    }
    case "set":
      return unnamed(points(value.items, budget));
    case "list":
      return several(value.items, value.join, budget);
    case "scalar":
      return is(value.tokens[0], "\\R") && value.tokens.length === 1 ? unnamed(LINE) : undefined;
    default:
      return undefined;
  }
}

function unnamed(set: RealSet | undefined): Solution | undefined {
  return set && { set, name: undefined };
}

function several(items: readonly Value[], join: string, budget: Budget): Solution | undefined {
  if (!items.every(({ kind }) => kind === "relation")) return undefined;
  const parts = items.map((item) => readRealSet(item, budget));
  const [first] = parts;
  if (first === undefined || parts.some((part) => part === undefined || part.name !== first.name))
    return undefined;
  const fold = (operator: string): RealSet =>
    parts.map((part) => part!.set).reduce((a, b) => combine(a, b, operator));
  const both = join === "and" ? fold("\\cap") : [];
  return { set: both.length > 0 ? both : fold("\\cup"), name: first.name };
}

function interval({ open, close, items }: Tuple, budget: Budget): RealSet | undefined {
  if (items.length !== 2) return undefined;
  const [low, high] = [endOf(items[0]!, open === "[", budget), endOf(items[1]!, close === "]", budget)];
  return low && high && kept([{ low, high }]);
}

function points(items: readonly Value[], budget: Budget): RealSet | undefined {
  const ends = items.map((item) => endOf(item, true, budget));
  if (ends.some((end) => end === undefined || !Number.isFinite(end.at))) return undefined;
  return ends
    .map((end): RealSet => [{ low: end!, high: end! }])
    .reduce<RealSet>((a, b) => combine(a, b, "\\cup"), []);
}

function endOf(value: Value, closed: boolean, budget: Budget): End | undefined {
  if (value.kind !== "scalar" || value.mark !== undefined) return undefined;
  const { tokens } = value;
  const sign = is(tokens[0], "-") ? -1 : 1;
  const magnitude = is(tokens[0], "-", "+") ? tokens.slice(1) : tokens;
  if (magnitude.length === 1 && is(magnitude[0], "\\infty")) return sign < 0 ? LEFT : RIGHT;
  try {
    const at = toDouble(expressionOf(value), budget);
    return at === undefined ? undefined : { at, scalar: value, closed };
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

/** a < x \le b and the like, also for |x|. */
function inequality({ sides, operators }: Relation, budget: Budget): Solution | undefined {
  const middle = sides.findIndex((side) => variable(side) !== undefined);
  if (middle < 0 || sides.filter((side) => variable(side) !== undefined).length !== 1) return undefined;
  const { name, absolute } = variable(sides[middle]!)!;
  let set = LINE;
  for (const [i, operator] of operators.entries()) {
    if (i !== middle && i !== middle - 1) return undefined;
    const bound = endOf(
      readScalar(i === middle ? sides[i + 1]! : sides[i]!),
      operator === "\\le" || operator === "\\ge",
      budget,
    );
    const half = bound && halfLine(bound, operator, i === middle);
    if (half === undefined) return undefined;
    set = combine(set, half, "\\cap");
  }
  return { set: absolute ? mirrored(set) : set, name };
}

function variable(side: readonly Token[]): { name: string; absolute: boolean } | undefined {
  const absolute = is(side[0], "|") && is(side.at(-1), "|");
  const inside = absolute ? side.slice(1, -1) : side;
  return isSymbol(inside) ? { name: inside.map(({ text }) => text).join(""), absolute } : undefined;
}

function halfLine(bound: End, operator: string, onRight: boolean): RealSet | undefined {
  const below = { "<": true, "\\le": true, ">": false, "\\ge": false }[operator];
  if (operator === "\\ne")
    return combine(
      LINE,
      [{ low: { ...bound, closed: true }, high: { ...bound, closed: true } }],
      "\\setminus",
    );
  if (below === undefined) return undefined;
  return kept([below === onRight ? { low: LEFT, high: bound } : { low: bound, high: RIGHT }]);
}

// The x with |x| in a set.
function mirrored(set: RealSet): RealSet {
  const zero = { ...readEnd("0"), closed: true };
  const positive = combine(set, [{ low: zero, high: RIGHT }], "\\cap");
  const negative = positive.map(({ low, high }) => ({ low: opposite(high), high: opposite(low) })).reverse();
  return combine(positive, negative, "\\cup");
}

function readEnd(text: string): End {
  const scalar = readScalar([{ kind: "number", text, space: false, roman: false }]);
  return { at: Number(text), scalar, closed: true };
}

function opposite(end: End): End {
  if (end.scalar === undefined) return end === LEFT ? RIGHT : LEFT;
  if (end.at === 0) return end;
  const minus = { kind: "symbol", text: "-", space: false, roman: false } as const;
  const open = { ...minus, text: "(" };
  const close = { ...minus, text: ")" };
  return { at: -end.at, scalar: readScalar([minus, open, ...end.scalar.tokens, close]), closed: end.closed };
}

function kept(set: RealSet): RealSet {
  return set.filter(({ low, high }) => low.at < high.at || (low.at === high.at && low.closed && high.closed));
}

function combine(a: RealSet, b: RealSet, operator: string): RealSet {
  if (operator === "\\cap") return intersect(a, b);
  if (operator === "\\setminus") return intersect(a, complement(b));
  return complement(intersect(complement(a), complement(b)));
}

function intersect(a: RealSet, b: RealSet): RealSet {
  const out: Interval[] = [];
  for (const x of a) {
    for (const y of b) {
      const low = x.low.at > y.low.at || (x.low.at === y.low.at && !x.low.closed) ? x.low : y.low;
      const high = x.high.at < y.high.at || (x.high.at === y.high.at && !x.high.closed) ? x.high : y.high;
      out.push({ low, high });
    }
  }
  return kept(out).toSorted((x, y) => x.low.at - y.low.at);
}

function complement(set: RealSet): RealSet {
  const turned = (end: End): End => (end.scalar === undefined ? end : { ...end, closed: !end.closed });
  const out: Interval[] = [];
  let low = LEFT;
  for (const part of set) {
    if (part.low.scalar !== undefined) out.push({ low, high: turned(part.low) });
    if (part.high.scalar === undefined) return kept(out);
    low = turned(part.high);
  }
  return kept([...out, { low, high: RIGHT }]);
}

/** @internal Whether two sets of real numbers are one. Empty sets are never compared: they come from slips. */
export function compareRealSets(a: Solution, b: Solution, budget: Budget): Outcome {
  if (a.name !== undefined && b.name !== undefined && a.name !== b.name) return "different";
  if (a.set.length !== b.set.length || a.set.length === 0) return "different";
  let outcome: Outcome = "equal";
  for (const [i, part] of a.set.entries()) {
    const other = b.set[i]!;
    for (const found of [
      compareEnds(part.low, other.low, budget),
      compareEnds(part.high, other.high, budget),
    ]) {
      if (found === "different") return found;
      if (found === "unknown") outcome = found;
    }
  }
  return outcome;
}

function compareEnds(a: End, b: End, budget: Budget): Outcome {
  if (a.scalar === undefined || b.scalar === undefined)
    return a.scalar === b.scalar && a.at === b.at ? "equal" : "different";
  return a.closed === b.closed ? compareScalars(a.scalar, b.scalar, budget) : "different";
}
