import { MAX_DEPTH, Unreadable } from "../limits.ts";
import { Scanner } from "./scan.ts";
import { closing, is, nesting, symbol, type Token, token } from "./token.ts";

const TWO = ["\\frac", "\\binom"];
const INFIX: Readonly<Record<string, string>> = {
  "\\choose": "\\binom",
  "\\over": "\\frac",
  "\\atop": "\\binom",
};

const ACCENTS = new Set(
  "overline underline bar vec hat tilde widehat widetilde dot ddot overrightarrow overarc xrightarrow"
    .split(" ")
    .map((name) => `\\${name}`),
);

/**
 * @internal Writes every argument in braces: `\frac12`, `\sqrt(x)`, `2^(n+1)`, `{n \choose k}` become `\frac{1}{2}`,
 * `\sqrt{x}`, `2^{n+1}`, `\binom{n}{k}`. Braces around one token that is no argument are dropped.
 *
 * @throws {@link Unreadable} for an argument that is missing or empty, and for braces that do not pair up
 */
export function writeArguments(tokens: readonly Token[]): Token[] {
  return new Writer(tokens).sequence();
}

class Writer {
  #at = 0;
  #depth = 0;
  readonly #tokens: Token[];

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens.slice();
  }

  sequence(): Token[] {
    const out = this.#until(() => this.#at >= this.#tokens.length);
    return infix(out);
  }

  #until(end: () => boolean): Token[] {
    if (++this.#depth > MAX_DEPTH) throw new Unreadable("nesting");
    const out: Token[] = [];
    while (!end()) {
      if (this.#at >= this.#tokens.length) throw new Unreadable("a brace is not closed");
      this.#element(out);
    }
    this.#depth--;
    return out;
  }

  #element(out: Token[]): void {
    const head = this.#tokens[this.#at]!;
    this.#at++;
    if (is(head, "{")) {
      const inside = this.#group();
      const accent = out.at(-1)?.kind === "command" && ACCENTS.has(out.at(-1)!.text);
      const bare = !accent && (inside.length === 1 || inside[0]?.text === "\\binom");
      if (bare) out.push({ ...inside[0]!, space: inside[0]!.space || head.space }, ...inside.slice(1));
      else out.push(head, ...inside, symbol("}"));
    } else if (is(head, "}")) throw new Unreadable("a brace is not opened");
    else if (is(head, ...TWO)) {
      out.push(head);
      this.#braced(out, true);
      this.#braced(out, true);
    } else if (is(head, "\\pmod")) {
      out.push(head);
      this.#braced(out, false);
    } else if (is(head, "\\sqrt")) {
      out.push(head);
      if (is(this.#tokens[this.#at], "[")) this.#index(out);
      this.#braced(out, false);
    } else if (is(head, "^", "_")) {
      out.push(head);
      this.#braced(out, false, head.text);
    } else out.push(head);
  }

  #group(): Token[] {
    const inside = this.#until(() => is(this.#tokens[this.#at], "}"));
    this.#at++;
    return infix(inside);
  }

  #index(out: Token[]): void {
    this.#at++;
    const inside = this.#until(() => is(this.#tokens[this.#at], "]"));
    this.#at++;
    if (inside.length > 0 && !(inside.length === 1 && inside[0]!.text === "2"))
      out.push(symbol("["), ...inside, symbol("]"));
  }

  #braced(out: Token[], digitwise: boolean, script?: string): void {
    const inside = this.#argument(digitwise, script);
    if (inside.length === 0) throw new Unreadable("an argument is empty");
    out.push(symbol("{"), { ...inside[0]!, space: false }, ...inside.slice(1), symbol("}"));
  }

  #argument(digitwise: boolean, script?: string): Token[] {
    const head = this.#tokens[this.#at];
    if (head === undefined) throw new Unreadable("an argument is missing");
    if (is(head, "{")) {
      this.#at++;
      return unwrap(this.#group());
    }
    if (is(head, "(") && !digitwise) return this.#parenthesised();
    if (script === "^" && is(head, "-", "+")) {
      this.#at++;
      return [head, ...this.#argument(false, script)];
    }
    if (head.kind === "number" && digitwise && head.text.length > 1) return [this.#split(head, "number")];
    if (head.kind === "word" && !head.roman && script !== "_") return [this.#split(head, "letter")];
    if (is(head, "}", ")", "]", ",", "=", "+", "-", "^", "_", "&", "\\\\"))
      throw new Unreadable("an argument is missing");
    const out: Token[] = [];
    if (++this.#depth > MAX_DEPTH) throw new Unreadable("nesting");
    this.#element(out);
    this.#depth--;
    return out;
  }

  #parenthesised(): Token[] {
    const end = closing(this.#tokens, this.#at);
    if (end < 0) throw new Unreadable("a bracket is not closed");
    this.#at++;
    const inside = this.#until(() => this.#at === end);
    this.#at++;
    return inside;
  }

  // \frac12 has the arguments 1 and 2, a^bc the exponent b.
  #split(head: Token, kind: "number" | "letter"): Token {
    // What is left may be a function's name now.
    this.#tokens.splice(this.#at, 1, ...new Scanner(head.text.slice(1)).tokens());
    return token(kind, head.text[0]!);
  }
}

function unwrap(inside: Token[]): Token[] {
  let found = inside;
  while (is(found[0], "{") && closing(found, 0) === found.length - 1) found = found.slice(1, -1);
  return found;
}

function infix(tokens: Token[]): Token[] {
  let depth = 0;
  for (const [i, found] of tokens.entries()) {
    depth += nesting(found);
    const prefix =
      depth === 0 && found.kind === "command" && Object.hasOwn(INFIX, found.text)
        ? INFIX[found.text]
        : undefined;
    if (prefix === undefined) continue;
    const [above, below] = [tokens.slice(0, i), tokens.slice(i + 1)];
    if (above.length === 0 || below.length === 0) throw new Unreadable("an argument is empty");
    return [token("command", prefix), symbol("{"), ...above, symbol("}"), symbol("{"), ...below, symbol("}")];
  }
  return tokens;
}
