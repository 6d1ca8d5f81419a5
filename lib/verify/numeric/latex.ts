import { Unreadable } from "../limits.ts";
import { closing, is, symbol, type Token, token } from "../normalize/token.ts";

/**
 * @internal Tokens as the LaTeX that the reader takes as it is meant: words as products of letters, mixed numbers as
 * sums, blanks only where needed.
 */
export function toReaderLatex(tokens: readonly Token[], mixed: "number" | "product"): string {
  let out = "";
  for (const found of mixed === "number" ? mixedNumbers(tokens) : tokens) {
    if (found.kind === "word") out += ` ${[...found.text].join(" ")} `;
    else if (found.kind === "command") out += command(found.text);
    else if (found.kind === "number") out += found.space ? ` ${plain(found.text)}` : plain(found.text);
    else if (found.text === "%") throw new Unreadable("a percent sign inside");
    else out += found.text;
  }
  return out;
}

// The reader takes \operatorname{lcm} for a function only where its argument follows at once.
function command(text: string): string {
  if (text === "\\degree") return "^{\\circ}";
  return text.endsWith("}") ? text : `${text} `;
}

// The reader knows decimals, but not 4.5e33.
function plain(text: string): string {
  const e = text.search(/[eE]/);
  return e < 0 ? text : `(${text.slice(0, e)}\\times10^{${text.slice(e + 1)}})`;
}

function mixedNumbers(tokens: readonly Token[]): Token[] {
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const end = mixedEnd(tokens, i);
    if (end === undefined) out.push(tokens[i]!);
    else {
      out.push(symbol("("), tokens[i]!, symbol("+"), ...tokens.slice(i + 1, end + 1), symbol(")"));
      i = end;
    }
  }
  return out;
}

/** Where `2\frac{1}{3}` ends that starts here; undefined when none does. */
function mixedEnd(tokens: readonly Token[], i: number): number | undefined {
  const [whole, frac, open, above, shut, again, below, close] = tokens.slice(i, i + 8);
  if (whole?.kind !== "number" || !/^\d+$/.test(whole.text) || !is(frac, "\\frac")) return undefined;
  if (!is(open, "{") || !is(shut, "}") || !is(again, "{") || !is(close, "}")) return undefined;
  if (above?.kind !== "number" || below?.kind !== "number") return undefined;
  if (is(tokens[i - 1], "^", "_", "\\cdot") || tokens[i - 1]?.kind === "number") return undefined;
  return Number(above.text) > 0 && Number(above.text) < Number(below.text) ? i + 7 : undefined;
}

const INVERSE: Readonly<Record<string, string>> = {
  "\\sin": "\\arcsin",
  "\\cos": "\\arccos",
  "\\tan": "\\arctan",
};

/** @internal `\sin^{-1}x` as `\arcsin x`. */
export function inverseFunctions(tokens: readonly Token[]): Token[] {
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const name = tokens[i]!.kind === "command" ? INVERSE[tokens[i]!.text] : undefined;
    const end = name !== undefined && is(tokens[i + 1], "^") ? closing(tokens, i + 2) : -1;
    const minusOne = end === i + 5 && is(tokens[i + 3], "-") && tokens[i + 4]!.text === "1";
    out.push(minusOne ? token("command", name!) : tokens[i]!);
    if (minusOne) i = end;
  }
  return out;
}
