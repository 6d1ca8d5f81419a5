import { is, symbol, type Token } from "../normalize/token.ts";
import { splitTop } from "./split.ts";
import type { Matrix, Value } from "./value.ts";

const KINDS = /^\\begin\{([pbB]?matrix|smallmatrix|array(\{.*\})?)\*?\}$/;

/** @internal Reads a matrix, with a factor in front written into its elements. */
export function readMatrix(
  tokens: readonly Token[],
  key: string,
  readElement: (tokens: readonly Token[]) => Value,
): Matrix | undefined {
  const begin = tokens.findIndex(({ kind, text }) => kind === "command" && KINDS.test(text));
  if (begin < 0 || !tokens.at(-1)!.text.startsWith("\\end{")) return undefined;
  const body = tokens.slice(begin + 1, -1);
  if (body.some(({ text }) => text.startsWith("\\begin{"))) return undefined;
  const factor = is(tokens[begin - 1], "\\cdot") ? tokens.slice(0, begin - 1) : tokens.slice(0, begin);
  const rows = splitTop(body, (found) => is(found, "\\\\")).parts.filter((row) => row.length > 0);
  const cells = rows.map((row) => splitTop(row, (found) => is(found, "&")).parts);
  if (
    cells.length === 0 ||
    cells.some((row) => row.length !== cells[0]!.length || row.some((cell) => cell.length === 0))
  )
    return undefined;
  return {
    kind: "matrix",
    key,
    rows: cells.map((row) => row.map((cell) => readElement(scaled(factor, cell)))),
  };
}

function scaled(factor: readonly Token[], cell: readonly Token[]): readonly Token[] {
  if (factor.length === 0) return cell;
  if (factor.length === 1 && is(factor[0], "-")) return [symbol("-"), symbol("("), ...cell, symbol(")")];
  return [symbol("("), ...factor, symbol(")"), symbol("("), ...cell, symbol(")")];
}
