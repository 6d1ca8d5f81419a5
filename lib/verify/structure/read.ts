import { closing, is, render, symbol, type Token } from "../normalize/token.ts";
import { readMatrix } from "./matrix.ts";
import { assignedName } from "./names.ts";
import { readRatio } from "./ratio.ts";
import { readResidue } from "./residue.ts";
import { readScalar } from "./scalar.ts";
import { splitList, splitTop } from "./split.ts";
import { namedNumber, readText } from "./text.ts";
import type { List, Relation, Value } from "./value.ts";

const RELATIONS = new Set([
  ..."= < > \\le \\ge \\ne \\in \\approx \\sim \\equiv \\to \\Rightarrow \\notin \\subset \\subseteq".split(
    " ",
  ),
]);
const SET_OPERATORS = new Set(["\\cup", "\\cap", "\\setminus"]);
// Words that change what a number says: it is not the number then.
const HEDGES = new Set(
  "not no least most less more fewer greater than approximately about around nearly between minus negative over under half third quarter twice double".split(
    " ",
  ),
);
const LOGIC = ["\\forall", "\\exists", "\\not", "\\ldots", "\\sim", "\\approx"];

/** @internal Reads the form of an answer. Anything that has none is opaque. */
export function readValue(tokens: readonly Token[]): Value {
  const key = render(tokens);
  if (tokens.length === 0 || is(tokens[0], "\\forall", "\\exists")) return { kind: "opaque", key };
  const inner = strip(tokens);
  if (inner !== tokens) return readValue(inner);
  const stated = withoutDomain(tokens);
  if (stated.length < tokens.length) return readValue(stated);
  const { parts, join } = splitList(tokens);
  if (parts.length > 1) return readList("list", key, parts, join);
  const only = parts[0];
  if (only === undefined) return { kind: "opaque", key };
  return readElement(only);
}

/** One element: no list at the top level. */
function readElement(tokens: readonly Token[]): Value {
  const key = render(tokens);
  const inner = strip(tokens);
  if (inner !== tokens) return readValue(inner);
  const text = readText(tokens);
  if (text !== undefined) return text;
  const residue = readResidue(tokens, key, readElement);
  if (residue !== undefined) return residue;
  const relation = readRelation(tokens, key);
  if (relation !== undefined) return relation;
  const plain = withoutProse(tokens);
  if (plain === undefined || plain.length === 0) return { kind: "opaque", key };
  if (plain.length < tokens.length) return readElement(plain);
  const { parts, separators } = splitTop(
    tokens,
    ({ text, kind }) => kind === "command" && SET_OPERATORS.has(text),
  );
  if (parts.length > 1 && parts.every((part) => part.length > 0))
    return {
      kind: "sets",
      key,
      parts: parts.map(readElement),
      operators: separators.map(({ text }) => text),
    };
  const point = readPoint(tokens, key);
  if (point !== undefined) return point;
  const whole = readBracketed(tokens, key) ?? readMatrix(tokens, key, readElement) ?? readRatio(tokens, key);
  if (whole !== undefined) return whole;
  const spread = plusMinus(tokens);
  if (spread !== undefined) return readList("list", key, spread, ",");
  if (tokens.some((found) => is(found, ...LOGIC))) return { kind: "opaque", key };
  return readBased(tokens, key) ?? readScalar(tokens);
}

const DOMAIN = new Set(["for", "where", "with"]);

// "for k in Z" says what a letter stands for, as it is understood without; so does "k \in \Z" at the end.
function withoutDomain(whole: readonly Token[]): readonly Token[] {
  const tokens = withoutMembership(whole);
  const at = tokens.findIndex(({ kind, text }) => kind === "word" && DOMAIN.has(text.toLowerCase()));
  if (at < 1) return tokens;
  const integers = tokens
    .slice(at)
    .some((found) => is(found, "\\Z", "\\N") || /^integers?$/.test(found.text));
  return integers ? tokens.slice(0, is(tokens[at - 1], ",") ? at - 1 : at) : tokens;
}

// Parentheses or braces around everything say nothing, unless they make a tuple or a choice.
function strip(tokens: readonly Token[]): readonly Token[] {
  const wrapped =
    (is(tokens[0], "(") && is(tokens.at(-1), ")")) || (is(tokens[0], "{") && is(tokens.at(-1), "}"));
  if (!wrapped || closing(tokens, 0) !== tokens.length - 1 || tokens.length < 3) return tokens;
  const inside = tokens.slice(1, -1);
  return splitList(inside).parts.length === 1 ? inside : tokens;
}

function withoutMembership(tokens: readonly Token[]): readonly Token[] {
  const wrapped = is(tokens.at(-1), ")");
  const [before, letter, among, set] = tokens.slice(wrapped ? -5 : -4, wrapped ? -1 : undefined);
  const said = letter?.kind === "letter" && is(among, "\\in") && is(set, "\\Z", "\\N");
  if (!said || !is(before, wrapped ? "(" : ",")) return tokens;
  const rest = tokens.slice(0, wrapped ? -5 : -4);
  return rest.some(({ kind, text }) => kind === "letter" && text === letter.text) ? rest : tokens;
}

function readList(kind: List["kind"], key: string, parts: readonly Token[][], join: List["join"]): Value {
  return { kind, key, items: named(parts).map(readElement).flatMap(spreadOut), join };
}

// \pm makes several elements of one, also inside a list.
function spreadOut(item: Value): readonly Value[] {
  return item.kind === "list" ? item.items : [item];
}

// "x = 1, 2" and "x = 1 or x = 2" name the variable, not the elements.
function named(parts: readonly Token[][]): readonly Token[][] {
  const split = parts.map((part) => assignedName(part));
  const first = split[0];
  if (first === undefined) return parts;
  const same = split.slice(1).every((one) => one === undefined || one.name === first.name);
  const plain = parts
    .slice(1)
    .every((part, i) => split[i + 1] !== undefined || readRelation(part, "") === undefined);
  return same && plain ? parts.map((part, i) => split[i]?.value ?? part) : parts;
}

function readRelation(tokens: readonly Token[], key: string): Value | undefined {
  const { parts, separators } = splitTop(
    tokens,
    ({ kind, text }) => (kind === "symbol" || kind === "command") && RELATIONS.has(text),
  );
  if (separators.length === 0) return undefined;
  const operators = separators.map(({ text }) => text);
  if (parts.some((part) => part.length === 0)) return { kind: "opaque", key };
  const about = operators.indexOf("\\approx");
  if (about > 0 || (about === 0 && assignedName([...parts[0]!, symbol("="), ...parts[1]!]) === undefined)) {
    return readElement(tokens.slice(0, tokens.indexOf(separators[about]!)));
  }
  if (about === 0) operators[0] = "=";
  if (operators.length === 1 && operators[0] === "\\in") return readElement(parts[1]!);
  const relation: Relation = { kind: "relation", key, sides: parts, operators };
  const spread = operators.every((operator) => operator === "=") ? plusMinus(tokens) : undefined;
  if (spread === undefined) return relation;
  return readList("list", key, spread, ",");
}

function readBracketed(tokens: readonly Token[], key: string): Value | undefined {
  const [first, last] = [tokens[0], tokens.at(-1)];
  if (closing(tokens, 0) !== tokens.length - 1 || tokens.length < 2) return undefined;
  const inside = tokens.slice(1, -1);
  if (is(first, "\\{") && is(last, "\\}")) {
    const { parts, join } = splitList(inside);
    const described = splitTop(inside, (found) => is(found, "|", ":")).parts;
    if (described.length === 1) return readList("set", key, parts, join);
    return readDescription(described, key) ?? { kind: "opaque", key: key.replaceAll(":", "|") };
  }
  if (is(first, "\\langle") && is(last, "\\rangle")) return readTuple(inside, key, "(", ")");
  if (!is(first, "(", "[") || !is(last, ")", "]")) return undefined;
  return readTuple(inside, key, first!.text as "(" | "[", last!.text as ")" | "]");
}

// A(2, 3) is the point A = (2, 3). C, P and N with two numbers are something else.
function readPoint(tokens: readonly Token[], key: string): Value | undefined {
  const [name, ...rest] = tokens;
  const named = name?.kind === "letter" && /^[ABD-MOQ-Z]$/.test(name.text) && is(rest[0], "(");
  if (!named || readBracketed(rest, key)?.kind !== "tuple") return undefined;
  return { kind: "relation", key, sides: [[name], rest], operators: ["="] };
}

// {x : x > 2}, {x in R : x > 2}: the condition, which is the set of what meets it.
function readDescription(parts: readonly (readonly Token[])[], key: string): Value | undefined {
  const [element = [], condition = []] = parts;
  const [name, among, set] = element;
  const real = element.length === 1 || (element.length === 3 && is(among, "\\in") && is(set, "\\R"));
  const about = condition.some(({ kind, text }) => kind === "letter" && text === name?.text);
  if (parts.length !== 2 || name?.kind !== "letter" || !real || !about) return undefined;
  return splitList(condition).parts.length === 1 ? readRelation(condition, key) : undefined;
}

function readTuple(
  inside: readonly Token[],
  key: string,
  open: "(" | "[",
  close: ")" | "]",
): Value | undefined {
  const { parts } = splitTop(inside, (found) => is(found, ",", ";"));
  if (parts.some((part) => part.length === 0)) return { kind: "opaque", key };
  if (parts.length === 1) return open === "(" && close === ")" ? undefined : { kind: "opaque", key };
  const items = parts.map(readElement);
  if (items.every(({ kind }) => kind === "relation")) return { kind: "list", key, items, join: "," };
  return { kind: "tuple", key, open, close, items };
}

/** Two elements for one with \pm: all upper signs, then all lower ones. */
function plusMinus(tokens: readonly Token[]): Token[][] | undefined {
  if (!tokens.some((found) => is(found, "\\pm", "\\mp"))) return undefined;
  return ["\\pm", "\\mp"].map((plus) => {
    const signs = tokens.map((found) => {
      if (!is(found, "\\pm", "\\mp")) return found;
      return symbol(found.text === plus ? "+" : "-");
    });
    return is(signs[0], "+") ? signs.slice(1) : signs;
  });
}

function readBased(tokens: readonly Token[], key: string): Value | undefined {
  const [digits, bar, open, base, close] = tokens;
  if (tokens.length !== 5 || digits?.kind !== "number" || !is(bar, "_") || !is(open, "{") || !is(close, "}"))
    return undefined;
  const number =
    base!.kind === "word" ? namedNumber([base!.text]) : base!.kind === "number" ? base!.text : undefined;
  return number === undefined ? undefined : { kind: "based", key, digits: digits.text, base: String(number) };
}

const SHORT_WORDS = new Set("is of so be at in we".split(" "));

function isProse(found: Token | undefined, i: number): boolean {
  if (found?.kind !== "word") return false;
  return found.roman || found.text.length > 2 || (i > 0 && SHORT_WORDS.has(found.text));
}

// Words in front of a number are prose, unless they change what it says.
function withoutProse(tokens: readonly Token[]): readonly Token[] | undefined {
  let start = 0;
  while (isProse(tokens[start], start)) start++;
  if (start === 0) return tokens;
  if (
    tokens
      .slice(0, start)
      .some(({ text }) => HEDGES.has(text.toLowerCase()) || namedNumber([text]) !== undefined)
  )
    return undefined;
  return is(tokens[start], "(", "^", "_", "+", "/", "'") ? tokens : tokens.slice(start);
}
