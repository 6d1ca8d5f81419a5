import { literal, multiply, sameRational, whole } from "../exact/rational.ts";
import type { Token } from "../normalize/token.ts";
import type { Budget } from "../numeric/budget.ts";
import { readChoice, readLabelled } from "./choice.ts";
import { componentsOf, hasVariables, isEmptySet, isLine, isList, isProduct } from "./forms.ts";
import { compareOrdered, compareUnordered } from "./lists.ts";
import { isName, isPlainSum } from "./names.ts";
import { readValue } from "./read.ts";
import { compareRealSets, readRealSet } from "./real-set.ts";
import { assignmentOf, compareRelations } from "./relations.ts";
import { compareResidues } from "./residue.ts";
import { readScalar } from "./scalar.ts";
import { compareScalars } from "./scalars.ts";
import { namedNumber, plainWords, saysNothing } from "./text.ts";
import type { List, Outcome, Ratio, Relation, Text, Tuple, Value } from "./value.ts";

/** @internal Compares two answers by their form. */
export function compareTokens(a: readonly Token[], b: readonly Token[], budget: Budget): Outcome {
  const chosen = compareChoices(a, b);
  if (chosen !== undefined) return chosen;
  return new Comparison(budget).compare(readValue(a), readValue(b));
}

function compareChoices(a: readonly Token[], b: readonly Token[]): Outcome | undefined {
  const [x, y] = [readChoice(a), readChoice(b)];
  if (x !== undefined && y !== undefined && (x.clear || y.clear))
    return x.letter === y.letter ? "equal" : "different";
  const labelled =
    x !== undefined && y === undefined
      ? readLabelled(b)
      : y !== undefined && x === undefined
        ? readLabelled(a)
        : undefined;
  if (labelled !== undefined) return labelled.letter === (x ?? y)!.letter ? "equal" : "different";
  // A clear choice against a bare lower-case letter: (C) and c.
  const [clear, other] = x?.clear ? [x, b] : y?.clear ? [y, a] : [undefined, a];
  if (clear === undefined || other.length !== 1 || other[0]!.kind !== "letter") return undefined;
  return other[0]!.text.toUpperCase() === clear.letter ? "equal" : "different";
}

class Comparison {
  readonly #budget: Budget;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  readonly compare = (a: Value, b: Value): Outcome => {
    this.#budget.spend(1);
    if (a.key === b.key) return "equal";
    const found = this.#same(a, b) ?? this.#mixed(a, b) ?? this.#mixed(b, a);
    if (found !== undefined) return found;
    return a.kind === "opaque" || b.kind === "opaque" ? "unknown" : "different";
  };

  /** Both of one kind. */
  #same(a: Value, b: Value): Outcome | undefined {
    if (a.kind === "scalar" && b.kind === "scalar") return compareScalars(a, b, this.#budget);
    if (a.kind === "text" && b.kind === "text") return this.#texts(a, b);
    if (isList(a) && isList(b)) return this.#lists(a, b);
    if (a.kind === "tuple" && b.kind === "tuple") return this.#tuples(a, b);
    if (a.kind === "matrix" && b.kind === "matrix")
      return a.rows[0]!.length === b.rows[0]!.length
        ? compareOrdered(a.rows.flat(), b.rows.flat(), this.compare)
        : "different";
    if (a.kind === "relation" && b.kind === "relation") return this.#relations(a, b);
    if (a.kind === "ratio" && b.kind === "ratio") return this.#ratios(a, b);
    if (a.kind === "residue" && b.kind === "residue")
      return compareResidues(a, b, this.compare, this.#budget);
    if (a.kind === "based" && b.kind === "based")
      return a.digits === b.digits && a.base === b.base ? "equal" : "different";
    return undefined;
  }

  /** The first in the form of the second, or both in a third; undefined when there is no way. */
  #mixed(a: Value, b: Value): Outcome | undefined {
    if (a.kind === "text") return this.#textWith(a, b);
    if (a.kind === "relation") return this.#relationWith(a, b);
    if (isList(a)) return this.#listWith(a, b);
    if (a.kind === "matrix" && b.kind === "tuple")
      return a.rows[0]!.length === 1 || a.rows.length === 1
        ? compareOrdered(a.rows.flat(), b.items, this.compare)
        : undefined;
    if (a.kind === "ratio" && b.kind === "scalar") return this.#ratioWithNumber(a, b);
    if (a.kind === "residue" && b.kind === "scalar") return this.compare(a.value, b);
    if (a.kind === "based" && b.kind === "scalar")
      return b.exact && sameRational(literal(a.digits)!, b.exact) ? "equal" : "different";
    return a.kind === "sets" || isLine(a) ? this.#realSets(a, b) : undefined;
  }

  #realSets(a: Value, b: Value): Outcome | undefined {
    const [x, y] = [readRealSet(a, this.#budget), readRealSet(b, this.#budget)];
    return x && y && compareRealSets(x, y, this.#budget);
  }

  #texts(a: Text, b: Text): Outcome {
    if (plainWords(a) === plainWords(b) || (saysNothing(a) && saysNothing(b))) return "equal";
    return isProduct(a) && isProduct(b)
      ? compareScalars(readScalar(a.tokens), readScalar(b.tokens), this.#budget)
      : "different";
  }

  #textWith(a: Text, b: Value): Outcome | undefined {
    if (saysNothing(a)) return isEmptySet(b) ? "equal" : "different";
    const number = namedNumber(a.words);
    if (number !== undefined && b.kind === "scalar")
      return b.exact !== undefined && sameRational(b.exact, whole(number)) ? "equal" : "different";
    // An upright letter, as in a list of choices.
    if (
      b.kind === "scalar" &&
      a.words.length === 1 &&
      b.tokens.length === 1 &&
      a.words[0] === b.tokens[0]!.text
    )
      return "equal";
    if (b.kind === "scalar" && isProduct(a)) return compareScalars(readScalar(a.tokens), b, this.#budget);
    return undefined;
  }

  #lists(a: List, b: List): Outcome {
    const direct = compareUnordered(a.items, b.items, this.#elements);
    if (direct === "equal" || a.kind !== b.kind) return direct;
    return this.#realSets(a, b) === "equal" ? "equal" : direct;
  }

  // A set that is an element is not what it holds, as it is where it stands alone.
  readonly #elements = (x: Value, y: Value): Outcome =>
    (x.kind === "set") === (y.kind === "set") || isEmptySet(x) || isEmptySet(y)
      ? this.compare(x, y)
      : "different";

  #listWith(a: List, b: Value): Outcome | undefined {
    if (isEmptySet(a) || isEmptySet(b)) return isEmptySet(a) && isEmptySet(b) ? "equal" : "different";
    if (b.kind === "tuple") return this.#listWithTuple(a, b);
    if (b.kind === "relation") {
      const parts = componentsOf(b);
      if (parts !== undefined) return compareUnordered(a.items, parts, this.compare);
      const value = assignmentOf(b)?.value;
      const found = value && this.compare(a, readValue(value));
      return found === "equal" ? found : (this.#realSets(a, b) ?? found);
    }
    if (b.kind === "sets") return this.#realSets(a, b);
    if (b.kind === "scalar" || b.kind === "text") return compareUnordered(a.items, [b], this.compare);
    return undefined;
  }

  #listWithTuple(a: List, b: Tuple): Outcome | undefined {
    if (a.kind === "set") return "different";
    const assigned = a.items.map((item) =>
      item.kind === "relation" ? assignmentOf(item)?.value : undefined,
    );
    if (assigned.every((value) => value !== undefined))
      return compareOrdered(assigned.map(readValue), b.items, this.compare);
    const sets = this.#realSets(a, b);
    if (sets === "equal") return sets;
    // Two elements in parentheses are a point or an interval, more are a list that was put in parentheses.
    return b.items.length > 2 ? compareOrdered(a.items, b.items, this.compare) : "different";
  }

  #tuples(a: Tuple, b: Tuple): Outcome {
    if (a.open !== b.open || a.close !== b.close) return "different";
    return compareOrdered(a.items, b.items, this.compare);
  }

  #relations(a: Relation, b: Relation): Outcome {
    const [p, q] = [componentsOf(a), componentsOf(b)];
    if (p !== undefined && q !== undefined) return compareUnordered(p, q, this.compare);
    const sets = this.#realSets(a, b);
    if (sets !== undefined) return sets;
    const direct = compareRelations(a, b, this.#budget);
    if (direct === "equal") return direct;
    const [x, y] = [assignmentOf(a), assignmentOf(b)];
    if (x === undefined || y === undefined || x.name !== y.name) return direct;
    return this.compare(readValue(x.value), readValue(y.value));
  }

  #relationWith(a: Relation, b: Value): Outcome | undefined {
    if (isList(b) || b.kind === "opaque") return undefined;
    if (b.kind === "sets" || b.kind === "tuple") {
      const sets = this.#realSets(a, b);
      if (sets !== undefined) return sets;
    }
    const assigned = assignmentOf(a);
    if (assigned !== undefined) return this.compare(readValue(assigned.value), b);
    if (!a.operators.every((operator) => operator === "=")) return "different";
    const [first, last] = [a.sides[0]!, a.sides.at(-1)!];
    const [left, right] = [readValue(first), readValue(last)];
    // m + n = 65 answers "find m + n"; 3x - y = 0 is a line.
    if (
      isPlainSum(first) &&
      right.kind === "scalar" &&
      right.exact !== undefined &&
      right.exact.numerator !== 0n
    )
      return this.compare(right, b);
    if (hasVariables(first) || isName(first)) return "different";
    // 2 + 2 + 2 = 6: a computation of constants, if it is right as far as can be told.
    if (right.kind !== "based" && this.compare(left, right) === "different") return "different";
    return this.compare(right, b) === "equal" ? "equal" : this.compare(left, b);
  }

  #ratios(a: Ratio, b: Ratio): Outcome {
    if (a.parts.length !== b.parts.length) return "different";
    if (a.clock || b.clock) return compareOrdered(a.parts, b.parts, this.compare);
    const exact = [...a.parts, ...b.parts].map(({ exact }) => exact);
    if (exact.some((value) => value === undefined)) return compareOrdered(a.parts, b.parts, this.compare);
    const n = a.parts.length;
    for (let i = 1; i < n; i++) {
      const [x, y] = [multiply(exact[0]!, exact[n + i]!), multiply(exact[i]!, exact[n]!)];
      if (x === undefined || y === undefined || !sameRational(x, y)) return "different";
    }
    return "equal";
  }

  #ratioWithNumber({ parts, clock }: Ratio, b: Value): Outcome {
    if (clock || parts.length !== 2) return "different";
    const slash = { kind: "symbol", text: "/", space: false, roman: false } as const;
    const [open, close] = [
      { ...slash, text: "(" },
      { ...slash, text: ")" },
    ];
    const quotient = [open, ...parts[0]!.tokens, close, slash, open, ...parts[1]!.tokens, close];
    return this.compare(readScalar(quotient), b);
  }
}
