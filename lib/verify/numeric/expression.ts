import type { Rational } from "../exact/rational.ts";

/** @internal Functions that expressions are made of. */
export type FunctionName =
  | "add"
  | "multiply"
  | "divide"
  | "power"
  | "negate"
  | "sqrt"
  | "root"
  | "abs"
  | "exp"
  | "ln"
  | "log"
  | "sin"
  | "cos"
  | "tan"
  | "cot"
  | "sec"
  | "csc"
  | "arcsin"
  | "arccos"
  | "arctan"
  | "arccot"
  | "sinh"
  | "cosh"
  | "tanh"
  | "coth"
  | "arsinh"
  | "arcosh"
  | "artanh"
  | "factorial"
  | "binomial"
  | "floor"
  | "ceil"
  | "mod"
  | "gcd"
  | "lcm"
  | "max"
  | "min";

/** @internal A scalar expression. `log` has its base second, or none: then which base is meant is not said. */
export type Expression =
  | { readonly kind: "rational"; readonly value: Rational }
  | { readonly kind: "constant"; readonly name: "pi" | "e" | "i" }
  | { readonly kind: "symbol"; readonly name: string }
  | { readonly kind: "call"; readonly name: FunctionName; readonly args: readonly Expression[] }
  | {
      readonly kind: "sum" | "product";
      readonly index: string;
      readonly from: Expression;
      readonly to: Expression;
      readonly body: Expression;
    };

/** @internal */
export function call(name: FunctionName, ...args: Expression[]): Expression {
  return { kind: "call", name, args };
}

/** @internal Visits an expression and all its parts. */
export function visit(expression: Expression, see: (part: Expression) => void): void {
  see(expression);
  if (expression.kind === "call") for (const arg of expression.args) visit(arg, see);
  else if (expression.kind === "sum" || expression.kind === "product") {
    visit(expression.from, see);
    visit(expression.to, see);
    visit(expression.body, see);
  }
}

/** @internal Names of the free variables. */
export function variables(expression: Expression, bound: ReadonlySet<string> = new Set()): Set<string> {
  const found = new Set<string>();
  const add = (part: Expression, inside: ReadonlySet<string>): void => {
    if (part.kind === "symbol" && !inside.has(part.name)) found.add(part.name);
    else if (part.kind === "call") for (const arg of part.args) add(arg, inside);
    else if (part.kind === "sum" || part.kind === "product") {
      add(part.from, inside);
      add(part.to, inside);
      add(part.body, new Set([...inside, part.index]));
    }
  };
  add(expression, bound);
  return found;
}

/** @internal An expression with other parts for some, outermost first. */
export function replace(
  expression: Expression,
  other: (part: Expression) => Expression | undefined,
): Expression {
  const found = other(expression);
  if (found !== undefined) return found;
  const inside = (part: Expression): Expression => replace(part, other);
  if (expression.kind === "call") return { ...expression, args: expression.args.map(inside) };
  if (expression.kind !== "sum" && expression.kind !== "product") return expression;
  const { from, to, body } = expression;
  return { ...expression, from: inside(from), to: inside(to), body: inside(body) };
}
