import { MAX_ITEMS } from "../limits.ts";
import type { Outcome, Value } from "./value.ts";

type Compare = (a: Value, b: Value) => Outcome;

/** @internal Position by position. */
export function compareOrdered(a: readonly Value[], b: readonly Value[], compare: Compare): Outcome {
  if (a.length !== b.length) return "different";
  let outcome: Outcome = "equal";
  for (const [i, item] of a.entries()) {
    const found = compare(item, b[i]!);
    if (found === "different") return found;
    if (found === "unknown") outcome = found;
  }
  return outcome;
}

/** @internal In any order, repeated elements counting once: every element of each side is one of the other. */
export function compareUnordered(a: readonly Value[], b: readonly Value[], compare: Compare): Outcome {
  if (a.length > MAX_ITEMS || b.length > MAX_ITEMS) return "unknown";
  const keys = (items: readonly Value[]): Set<string> => new Set(items.map(({ key }) => key));
  const [left, right] = [keys(a), keys(b)];
  const restA = a.filter(({ key }) => !right.has(key));
  const restB = b.filter(({ key }) => !left.has(key));
  const known = remembering(compare);
  let outcome: Outcome = "equal";
  for (const [some, all] of [
    [restA, b],
    [restB, a],
  ] as const) {
    for (const item of some) {
      const found = search(item, all, known);
      if (found === "different") return found;
      if (found === "unknown") outcome = found;
    }
  }
  return outcome;
}

// Both directions of the matching need most pairs.
function remembering(compare: Compare): Compare {
  const outcomes = new Map<Value, Map<Value, Outcome>>();
  return (a, b) => {
    const found = outcomes.get(a)?.get(b) ?? outcomes.get(b)?.get(a);
    if (found !== undefined) return found;
    const outcome = compare(a, b);
    const row = outcomes.get(a) ?? new Map<Value, Outcome>();
    outcomes.set(a, row.set(b, outcome));
    return outcome;
  };
}

function search(item: Value, all: readonly Value[], compare: Compare): Outcome {
  let outcome: Outcome = "different";
  for (const other of all) {
    const found = compare(item, other);
    if (found === "equal") return found;
    if (found === "unknown") outcome = found;
  }
  return outcome;
}
