import { Unreadable } from "../limits.ts";
import { render, symbol, type Token } from "../normalize/token.ts";
import type { Budget } from "../numeric/budget.ts";
import { compareUpToFactor } from "../numeric/compare.ts";
import { call, type Expression } from "../numeric/expression.ts";
import { readExpression } from "../numeric/reader.ts";
import { assignedName } from "./names.ts";
import type { Outcome, Relation } from "./value.ts";

const FLIPPED: Readonly<Record<string, string>> = { ">": "<", "\\ge": "\\le" };
const SYMMETRIC = new Set(["=", "\\ne"]);
const COMPARABLE = new Set(["=", "\\ne", "<", "\\le"]);

interface Pair {
  readonly left: readonly Token[];
  readonly right: readonly Token[];
  readonly operator: string;
}

/** @internal A chain as its links, written with `<` and `\le` only. */
function links({ sides, operators }: Relation): Pair[] {
  return operators.map((operator, i) => {
    const flipped = FLIPPED[operator];
    const [left, right] = [sides[i]!, sides[i + 1]!];
    return flipped === undefined
      ? { left, right, operator }
      : { left: right, right: left, operator: flipped };
  });
}

/** @internal Compares equations and inequalities: side by side, or up to a factor that changes nothing. */
export function compareRelations(a: Relation, b: Relation, budget: Budget): Outcome {
  const [left, right] = [links(a), links(b)];
  if (left.length !== right.length) return "different";
  let outcome: Outcome = "equal";
  const free = right.slice();
  for (const link of left) {
    const found = free.map((other) => compareLinks(link, other, budget));
    const at = found.indexOf("equal");
    if (at >= 0) free.splice(at, 1);
    else if (found.includes("unknown")) outcome = "unknown";
    else return "different";
  }
  return outcome;
}

function compareLinks(a: Pair, b: Pair, budget: Budget): Outcome {
  if (a.operator !== b.operator) return "different";
  const [al, ar, bl, br] = [a.left, a.right, b.left, b.right].map(render);
  if (al === bl && ar === br) return "equal";
  const symmetric = SYMMETRIC.has(a.operator);
  if (symmetric && al === br && ar === bl) return "equal";
  if (!COMPARABLE.has(a.operator)) return "unknown";
  try {
    const [x, y] = [difference(a), difference(renamed(b, a))];
    return compareUpToFactor(x, y, !symmetric, budget);
  } catch (error) {
    if (error instanceof Unreadable) return "unknown";
    throw error;
  }
}

function difference({ left, right }: Pair): Expression {
  return call("add", readExpression(left), call("negate", readExpression(right)));
}

// f(t) = 2t is f(x) = 2x: the name of a function's argument means nothing.
function renamed(pair: Pair, like: Pair): Pair {
  const [own, other] = [parameter(pair), parameter(like)];
  if (own === undefined || other === undefined || own.head !== other.head || own.letter === other.letter)
    return pair;
  const rename = (tokens: readonly Token[]): Token[] =>
    tokens.map((found) =>
      found.kind === "letter" && found.text === own.letter ? { ...found, text: other.letter } : found,
    );
  if ([...pair.left, ...pair.right].some(({ text }) => text === other.letter)) return pair;
  return { ...pair, left: rename(pair.left), right: rename(pair.right) };
}

function parameter({ left, operator }: Pair): { head: string; letter: string } | undefined {
  const [head, open, letter, close] = left;
  const applied = operator === "=" && left.length === 4 && open?.text === "(" && close?.text === ")";
  if (!applied || head?.kind !== "letter" || letter?.kind !== "letter") return undefined;
  return { head: head.text, letter: letter.text };
}

/** @internal The name and value that an equation gives. */
export function assignmentOf(relation: Relation): { name: string; value: Token[] } | undefined {
  if (!relation.operators.every((operator) => operator === "=")) return undefined;
  return assignedName(relation.sides.flatMap((side, i) => (i === 0 ? side : [symbol("="), ...side])));
}
