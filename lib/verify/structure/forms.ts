// Questions about the form of a value.
import { is, type Token } from "../normalize/token.ts";
import { isName } from "./names.ts";
import { readValue } from "./read.ts";
import { splitTop } from "./split.ts";
import type { List, Relation, Text, Value } from "./value.ts";

/** @internal Elements without an order. */
export function isList(value: Value): value is List {
  return value.kind === "list" || value.kind === "set";
}

/** @internal All real numbers. */
export function isLine(value: Value): boolean {
  return value.kind === "scalar" && value.tokens.length === 1 && is(value.tokens[0], "\\R");
}

/** @internal A set without elements, or the sign for it. */
export function isEmptySet(value: Value): boolean {
  if (value.kind === "set") return value.items.length === 0;
  return value.kind === "scalar" && value.tokens.length === 1 && is(value.tokens[0], "\\emptyset");
}

/** @internal Up to three letters may be variables: ab, xyz. */
export function isProduct({ tokens }: Text): boolean {
  return tokens.every(({ text, roman }) => !roman && text.length <= 3) && tokens.length <= 3;
}

/** @internal Words, or letters that are no constants. */
export function hasVariables(tokens: readonly Token[]): boolean {
  return tokens.some(
    ({ kind, text }) => kind === "word" || (kind === "letter" && text !== "e" && text !== "i"),
  );
}

/** @internal (p, q) = (3, 2) as p = 3 and q = 2. */
export function componentsOf({ sides, operators }: Relation): Value[] | undefined {
  if (operators.length !== 1 || operators[0] !== "=") return undefined;
  const [names, values] = sides.map((side) => {
    const wrapped = is(side[0], "(") && is(side.at(-1), ")");
    return wrapped ? splitTop(side.slice(1, -1), (found) => is(found, ",")).parts : [];
  });
  if (names!.length < 2 || names!.length !== values!.length || !names!.every((name) => isName(name)))
    return undefined;
  const equals = { kind: "symbol", text: "=", space: false, roman: false } as const;
  return names!.map((name, i) => readValue([...name, equals, ...values![i]!]));
}
