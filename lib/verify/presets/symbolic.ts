import { toNumber } from "../exact/rational.ts";
import { Unreadable } from "../limits.ts";
import { normalize } from "../normalize/index.ts";
import { closing, nesting, render, symbol, type Token, token } from "../normalize/token.ts";
import { Budget, Exhausted } from "../numeric/budget.ts";
import { compareExpressions, toDouble } from "../numeric/compare.ts";
import { evaluateExactly } from "../numeric/exact.ts";
import type { Expression } from "../numeric/expression.ts";
import { readExpression } from "../numeric/reader.ts";

// Where the peers ask sympy, the presets ask the evaluation of this library: about as much as sympy's simplification.
const STEPS = 300_000;
const LIMIT = 1000;

/** What the peer's parser is like. */
export interface Dialect {
  /** LaTeX as antlr reads it, or plain text as sympy itself does. */
  readonly reads: "latex" | "plain";
  /** Relative tolerance of constants; without one they must be the same. */
  readonly tolerance?: number;
}

const UNKNOWN =
  /[^\x20-\x7e]|\\(text|math|display|sum|exp|lceil|overline)|\{,\}|\d[eE]\d|(?<![\\a-zA-Z])(sqrt|exp|pi|sin|cos|tan|log|ln)(?![a-zA-Z])/;
const PREFIX_ENDS = new Set([",", "\\cup", "\\cap", ";"]);

/**
 * @internal A text as the peers' parser takes it: up to the first comma or bracket that it cannot place, subscripts of
 * numbers dropped, a colon as division, `1\frac{4}{5}` as a product, pi, e and i as letters, a letter before a
 * parenthesis as a function of which nothing is known. Undefined for what it does not read.
 */
function parsePeer(text: string, reads: Dialect["reads"]): Expression | undefined {
  if (reads === "plain") return parsePlain(text);
  if (UNKNOWN.test(text)) return undefined;
  const { tokens, problem } = normalize(text.replaceAll(":", "/"));
  const read = problem === undefined ? withoutApplications(withoutSubscripts(prefix(tokens))) : [];
  if (read.length === 0) return undefined;
  const expression = attempt(read);
  return expression && lettersOnly(expression, ["pi", "e", "i"]);
}

const NOT_PLAIN = /[^\x20-\x7e]|\\(pm|mp|mbox|text|circ|overline|lfloor|lceil)|\\[,\d]|\{,\}|,/;

// sympy on its own: the whole text, numbers like 4.5e33, pi, functions by name; e and i are letters.
function parsePlain(text: string): Expression | undefined {
  const { tokens, problem } = normalize(text);
  if (NOT_PLAIN.test(text) || problem !== undefined || tokens.length === 0) return undefined;
  const expression = attempt(tokens);
  return expression && lettersOnly(expression, ["e", "i"]);
}

function attempt(tokens: readonly Token[]): Expression | undefined {
  try {
    return readExpression(tokens, "product");
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

function prefix(tokens: readonly Token[]): readonly Token[] {
  let depth = 0;
  for (const [i, found] of tokens.entries()) {
    depth += nesting(found);
    if (depth < 0 || (depth === 0 && PREFIX_ENDS.has(found.text))) return tokens.slice(0, i);
  }
  return tokens;
}

function withoutSubscripts(tokens: readonly Token[]): readonly Token[] {
  const at = tokens.findIndex((found, i) => found.text === "_" && tokens[i - 1]?.kind === "number");
  const end = at < 0 ? -1 : closing(tokens, at + 1);
  return end < 0 ? tokens : [...tokens.slice(0, at), ...tokens.slice(end + 1)];
}

// f(x) as a letter of its own, the same for the same argument.
function withoutApplications(tokens: readonly Token[]): readonly Token[] {
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const end = tokens[i]!.kind === "letter" && tokens[i + 1]?.text === "(" ? closing(tokens, i + 1) : -1;
    if (end < 0) out.push(tokens[i]!);
    else {
      out.push(
        token("letter", "F"),
        symbol("_"),
        symbol("{"),
        token("number", hash(tokens.slice(i, end + 1))),
        symbol("}"),
      );
      i = end;
    }
  }
  return out;
}

function hash(tokens: readonly Token[]): string {
  let h = 17;
  for (const c of render(tokens)) h = (h * 31 + c.codePointAt(0)!) % 999_983;
  return String(h);
}

function lettersOnly(expression: Expression, names: readonly string[]): Expression {
  if (expression.kind === "constant" && names.includes(expression.name))
    return { kind: "symbol", name: `the letter ${expression.name}` };
  if (expression.kind !== "call") return expression;
  return { ...expression, args: expression.args.map((arg) => lettersOnly(arg, names)) };
}

/** @internal Whether two texts are one expression, or constants within a relative tolerance where there is one. */
export function symbolicallyEqual(a: string, b: string, { reads, tolerance }: Dialect): boolean {
  const [x, y] = [parsePeer(a, reads), parsePeer(b, reads)];
  if (x === undefined || y === undefined) return false;
  try {
    const budget = new Budget(STEPS, LIMIT);
    if (compareExpressions(x, y, budget) === "equal") return true;
    if (tolerance === undefined) return false;
    const [p, q] = [asDouble(x, budget), asDouble(y, budget)];
    return p !== undefined && q !== undefined && isClose(p, q, tolerance);
  } catch (error) {
    if (error instanceof Exhausted) return false;
    throw error;
  }
}

// The peers compare doubles, where all that is too large is one, and all that is too small.
function asDouble(expression: Expression, budget: Budget): number | undefined {
  const exact = evaluateExactly(expression, budget);
  return exact === undefined ? toDouble(expression, budget) : toNumber(exact);
}

/** @internal |a - b| <= tolerance max(|a|, |b|). */
export function isClose(a: number, b: number, tolerance = 1e-4): boolean {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a === b;
  return a === b || Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
}

const FLOAT = /^[+-]?(\d+(_\d+)*(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/** @internal What `float()` makes of a text without its commas, or a hundredth of that before a percent sign. */
export function looseNumber(text: string): number | undefined {
  const plain = text.replaceAll(",", "").trim();
  if (FLOAT.test(plain)) return Number(plain.replaceAll("_", ""));
  if (!plain.endsWith("%")) return undefined;
  const share = plain.slice(0, -1).replace(/\\$/, "");
  return FLOAT.test(share) ? Number(share) / 100 : undefined;
}

/** @internal Numbers that are the same, or one a hundred times the other, within 1e-4. */
export function looselyEqual(prediction: number, reference: number): boolean {
  return [reference / 100, reference, reference * 100].some((value) => isClose(value, prediction));
}
