import type { Rational } from "../exact/rational.ts";
import type { Token } from "../normalize/token.ts";
import type { Unit } from "./units.ts";

/** A form of an answer; its key is its notation, the same for values that were written alike. */
interface Form<Kind extends string> {
  readonly kind: Kind;
  readonly key: string;
}

/** @internal One number or expression. */
export interface Scalar extends Form<"scalar"> {
  readonly tokens: readonly Token[];
  /** Its value, where it is one of the common forms of a number. */
  readonly exact: Rational | undefined;
  /** How far from `exact` a number may be to round to it; undefined where only that number will do. */
  readonly rounding: Rational | undefined;
  readonly mark: "percent" | "degrees" | undefined;
  /** Undefined without one, and for words that are none. */
  readonly unit: Unit | undefined;
}

/** @internal Words. */
export interface Text extends Form<"text"> {
  readonly words: readonly string[];
  readonly tokens: readonly Token[];
}

/** @internal Elements in no order, or a set. */
export interface List extends Form<"list" | "set"> {
  readonly items: readonly Value[];
  /** What stood between the elements last. */
  readonly join: "and" | "or" | ",";
}

/** @internal Elements in an order: a point, a vector, an interval. */
export interface Tuple extends Form<"tuple"> {
  readonly open: "(" | "[";
  readonly close: ")" | "]";
  readonly items: readonly Value[];
}

/** @internal Rows of a matrix with an optional factor. */
export interface Matrix extends Form<"matrix"> {
  readonly rows: readonly (readonly Value[])[];
}

/** @internal Sets joined by union, intersection or difference, from left to right. */
export interface SetExpression extends Form<"sets"> {
  readonly parts: readonly Value[];
  readonly operators: readonly string[];
}

/** @internal Sides with relations between them: `a = b`, `a < b \le c`. */
export interface Relation extends Form<"relation"> {
  readonly sides: readonly (readonly Token[])[];
  readonly operators: readonly string[];
}

/** @internal `a : b`, a ratio or a time of day. */
export interface Ratio extends Form<"ratio"> {
  readonly parts: readonly Scalar[];
  readonly clock: boolean;
}

/** @internal Digits in a base. */
export interface Based extends Form<"based"> {
  readonly digits: string;
  readonly base: string;
}

/** @internal A number modulo another one. */
export interface Residue extends Form<"residue"> {
  readonly value: Value;
  readonly modulus: Scalar;
}

/** @internal What has none of these forms: only the same text is equal. */
export type Opaque = Form<"opaque">;

/** @internal An answer by its form. */
export type Value =
  | Scalar
  | Text
  | List
  | Tuple
  | Matrix
  | SetExpression
  | Relation
  | Ratio
  | Based
  | Residue
  | Opaque;

/** @internal What a comparison found; `unknown` when one side cannot be evaluated. */
export type Outcome = "equal" | "different" | "unknown";
