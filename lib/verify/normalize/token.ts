/**
 * @internal What an answer is made of. A word is a run of letters: a unit, a name, or a product of variables that was
 * written without blanks; which one it is shows only where it stands.
 */
export interface Token {
  readonly kind: "number" | "letter" | "word" | "command" | "symbol";
  /** Commands with their backslash. */
  readonly text: string;
  /** There is a blank before it that may matter: between numbers, letters and words. */
  readonly space: boolean;
  /** Upright: from `\text`, `\mathrm` and their like. */
  readonly roman: boolean;
  /** A number that stands for all that round to it. */
  readonly rounded?: true;
}

/** @internal A token that stands where it is needed. */
export function token(kind: Token["kind"], text: string, space = false, roman = false): Token {
  return { kind, text, space, roman };
}

/** @internal A punctuation or operator token. */
export const symbol = (text: string): Token => token("symbol", text);

/** @internal Whether a token is one of these symbols or commands. */
export function is(found: Token | undefined, ...texts: readonly string[]): boolean {
  return (
    found !== undefined && (found.kind === "symbol" || found.kind === "command") && texts.includes(found.text)
  );
}

const OPENERS = new Set(["{", "(", "[", "\\{", "\\langle", "\\lfloor", "\\lceil"]);
const CLOSERS = new Set(["}", ")", "]", "\\}", "\\rangle", "\\rfloor", "\\rceil"]);

/** @internal By how much a token changes the depth of nesting. Intervals may pair any bracket with any other. */
export function nesting(found: Token): -1 | 0 | 1 {
  if (found.kind === "number" || found.kind === "letter" || found.kind === "word") return 0;
  if (OPENERS.has(found.text) || found.text.startsWith("\\begin{")) return 1;
  return CLOSERS.has(found.text) || found.text.startsWith("\\end{") ? -1 : 0;
}

/** @internal Index of the token that closes the one at `open`; -1 when none does. */
export function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    depth += nesting(tokens[i]!);
    if (depth === 0) return i;
  }
  return -1;
}

/** @internal Tokens as LaTeX; scanning it gives the same tokens again. */
export function render(tokens: readonly Token[]): string {
  let out = "";
  let inText = false;
  let afterCommand = false;
  for (const { kind, text, space, roman } of tokens) {
    const upright = roman && (kind === "word" || kind === "letter");
    if (inText && !upright) {
      out += "}";
      inText = false;
      afterCommand = false;
    }
    if (upright && !inText) {
      out += `${space ? " " : ""}\\text{`;
      inText = true;
    } else if (space || (afterCommand && (kind === "letter" || kind === "word"))) out += " ";
    out += text;
    afterCommand = kind === "command" && /[a-zA-Z]$/.test(text);
  }
  return inText ? `${out}}` : out;
}
