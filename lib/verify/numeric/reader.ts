import { createRequire } from "node:module";
import type { LatexSyntax, MathJsonExpression } from "@cortex-js/compute-engine/latex-syntax";
import { literal, ONE, power, type Rational, rational, whole } from "../exact/rational.ts";
import { Unreadable } from "../limits.ts";
import { nesting, type Token } from "../normalize/token.ts";
import { call, type Expression, type FunctionName, replace } from "./expression.ts";
import { inverseFunctions, toReaderLatex } from "./latex.ts";

// Loaded with the first expression that needs it: most answers are plain numbers. It reads; every verdict is made here.
let syntax: LatexSyntax | undefined;

function reader(): LatexSyntax {
  if (syntax === undefined) {
    const require = createRequire(import.meta.url);
    const found = require("@cortex-js/compute-engine/latex-syntax") as {
      LatexSyntax: new () => LatexSyntax;
    };
    syntax = new found.LatexSyntax();
    syntax.parse("x"); // builds its tables
  }
  return syntax;
}

/** @internal Loads the reader ahead of the first expression. */
export function loadReader(): void {
  reader();
}

/**
 * @internal Reads tokens as a scalar expression.
 *
 * @param mixed - whether `1\frac{4}{5}` is a mixed number or a product
 * @throws {@link Unreadable} for what is none
 */
export function readExpression(tokens: readonly Token[], mixed: "number" | "product" = "number"): Expression {
  let depth = 0;
  for (const found of tokens) {
    depth += nesting(found);
    if (depth < 0) throw new Unreadable("brackets");
  }
  if (depth !== 0 || tokens.length === 0) throw new Unreadable("brackets");
  const parsed = reader().parse(toReaderLatex(inverseFunctions(tokens), mixed));
  if (parsed === null) throw new Unreadable("no expression");
  return convert(parsed);
}

const DIRECT: Readonly<Record<string, FunctionName>> = {
  Add: "add",
  Multiply: "multiply",
  Divide: "divide",
  Rational: "divide",
  Power: "power",
  Negate: "negate",
  Sqrt: "sqrt",
  Root: "root",
  Abs: "abs",
  Exp: "exp",
  Ln: "ln",
  Log: "log",
  Sin: "sin",
  Cos: "cos",
  Tan: "tan",
  Cot: "cot",
  Sec: "sec",
  Csc: "csc",
  Arcsin: "arcsin",
  Arccos: "arccos",
  Arctan: "arctan",
  Arccot: "arccot",
  Sinh: "sinh",
  Cosh: "cosh",
  Tanh: "tanh",
  Coth: "coth",
  Arsinh: "arsinh",
  Arcosh: "arcosh",
  Artanh: "artanh",
  Factorial: "factorial",
  Binomial: "binomial",
  Choose: "binomial",
  Floor: "floor",
  Ceil: "ceil",
  Mod: "mod",
  GCD: "gcd",
  LCM: "lcm",
  Max: "max",
  Min: "min",
};

const CONSTANTS: Readonly<Record<string, "pi" | "e" | "i">> = {
  Pi: "pi",
  e: "e",
  ExponentialE: "e",
  i: "i",
  ImaginaryUnit: "i",
};

const BLANKS = new Set(["HorizontalSpacing", "Nothing"]);
/** Marks on a symbol make another symbol. */
const ACCENTS = new Set(
  "OverVector OverHat OverTilde OverBar Mean Prime Subscript OverDot Superplus Superminus".split(" "),
);
/** Nothing is computed of these: they are equal when they are written alike. */
const CALCULUS = new Set(["Limit", "Integrate", "D", "Derivative", "Apply"]);
const WORDS =
  /^(Positive|Negative|Complex)Infinity$|^(NaN|Undefined|Nothing|True|False|EmptySet|\w+Numbers)$/;

function convert(json: MathJsonExpression): Expression {
  if (typeof json === "number") return number(String(json));
  if (typeof json === "string") return named(json);
  if (Array.isArray(json)) return apply(json[0] as MathJsonExpression, json.slice(1) as MathJsonExpression[]);
  const parts = json as { num?: string; sym?: string; fn?: MathJsonExpression[] };
  if (parts.num !== undefined) return number(parts.num);
  if (parts.sym !== undefined) return named(parts.sym);
  if (parts.fn !== undefined) return apply(parts.fn[0]!, parts.fn.slice(1));
  throw new Unreadable("no expression");
}

function named(name: string): Expression {
  const constant = Object.hasOwn(CONSTANTS, name) ? CONSTANTS[name] : undefined;
  if (constant !== undefined) return { kind: "constant", name: constant };
  if (WORDS.test(name)) throw new Unreadable(name);
  return { kind: "symbol", name };
}

const NUMBER = /^(-?)(\d+)(?:\.(\d*)(?:\((\d+)\))?)?(?:[eE]([+-]?\d+))?$/;

function number(text: string): Expression {
  const found = NUMBER.exec(text);
  if (found === null) throw new Unreadable("a number");
  const [, minus, integer, decimals = "", repeated, exponent = "0"] = found;
  let value = literal(`${integer}${decimals === "" ? "" : `.${decimals}`}`);
  if (repeated !== undefined && value !== undefined) {
    const scale = 10n ** BigInt(decimals.length);
    const digits = BigInt(integer + decimals);
    const nines = 10n ** BigInt(repeated.length) - 1n;
    value = rational(digits * nines + BigInt(repeated), nines * scale);
  }
  const scale = Math.abs(Number(exponent)) > 20_000 ? undefined : power(whole(10), BigInt(exponent));
  const scaled =
    value && scale && rational(value.numerator * scale.numerator, value.denominator * scale.denominator);
  if (scaled === undefined) throw new Unreadable("a number");
  return rationalOf(minus === "-" ? { ...scaled, numerator: -scaled.numerator } : scaled);
}

function rationalOf(value: Rational): Expression {
  return { kind: "rational", value };
}

function apply(head: MathJsonExpression, args: readonly MathJsonExpression[]): Expression {
  if (typeof head !== "string") throw new Unreadable("a function");
  const direct = Object.hasOwn(DIRECT, head) ? DIRECT[head] : undefined;
  if (direct !== undefined) return call(direct, ...args.map(convert));
  switch (head) {
    case "InvisibleOperator":
      return product(args);
    case "Delimiter":
      return delimited(args);
    case "Subtract":
      return call("add", convert(args[0]!), ...args.slice(1).map((arg) => call("negate", convert(arg))));
    case "Square":
      return call("power", convert(args[0]!), rationalOf(whole(2)));
    case "Lb":
      return call("log", convert(args[0]!), rationalOf(whole(2)));
    case "Lg":
      return call("log", convert(args[0]!), rationalOf(whole(10)));
    case "Degrees":
      return degrees(args[0]!);
    case "Sum":
    case "Product":
      return finite(head === "Sum" ? "sum" : "product", args);
    default:
      return other(head, args);
  }
}

function product(args: readonly MathJsonExpression[]): Expression {
  const factors = args.filter((arg) => !(Array.isArray(arg) && BLANKS.has(String(arg[0]))));
  if (factors.length === 1) return convert(factors[0]!);
  return call("multiply", ...factors.map(convert));
}

function delimited(args: readonly MathJsonExpression[]): Expression {
  const [inside] = args;
  if (inside === undefined) throw new Unreadable("empty brackets");
  if (Array.isArray(inside) && inside[0] === "Sequence") throw new Unreadable("a sequence");
  return convert(inside);
}

function degrees(value: MathJsonExpression): Expression {
  const half = { kind: "constant", name: "pi" } as const;
  return call("multiply", convert(value), half, rationalOf({ ...ONE, denominator: 180n }));
}

function finite(kind: "sum" | "product", args: readonly MathJsonExpression[]): Expression {
  const [body, limits] = args;
  const range =
    Array.isArray(limits) && (limits[0] === "Tuple" || limits[0] === "Limits") ? limits : undefined;
  if (body === undefined || range === undefined || range.length !== 4 || args.length !== 2)
    throw new Unreadable(kind);
  const index = range[1];
  if (typeof index !== "string") throw new Unreadable(kind);
  return {
    kind,
    index,
    from: convert(range[2] as MathJsonExpression),
    to: convert(range[3] as MathJsonExpression),
    body: bound(convert(body), index),
  };
}

// An index i is no imaginary unit.
function bound(body: Expression, index: string): Expression {
  if (!Object.hasOwn(CONSTANTS, index)) return body;
  return replace(body, (part) =>
    part.kind === "constant" && part.name === CONSTANTS[index] ? { kind: "symbol", name: index } : undefined,
  );
}

// A letter before brackets is a factor: answers rarely hold unknown functions, and then on both sides alike.
function other(head: string, args: readonly MathJsonExpression[]): Expression {
  if (CALCULUS.has(head)) return { kind: "symbol", name: unevaluated(head, args) };
  if (ACCENTS.has(head)) return { kind: "symbol", name: JSON.stringify([head, ...args]) };
  if (/^[a-zA-Z](_\w+)?$/.test(head) && args.length === 1)
    return call("multiply", named(head), convert(args[0]!));
  throw new Unreadable(head);
}

// The variable of a definite integral may have any name.
function unevaluated(head: string, args: readonly MathJsonExpression[]): string {
  const range = args[1];
  const definite = head === "Integrate" && Array.isArray(range) && range.length === 4;
  const variable = definite ? range[1] : undefined;
  return JSON.stringify([head, ...args], (_, part: unknown) => (part === variable ? "#" : part));
}
