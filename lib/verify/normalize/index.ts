import { MAX_DEPTH, MAX_LENGTH, Unreadable } from "../limits.ts";
import { writeArguments } from "./arguments.ts";
import { joinThousands } from "./numbers.ts";
import { Scanner } from "./scan.ts";
import { joinSigns } from "./signs.ts";
import { closing, is, nesting, render, symbol, type Token, token } from "./token.ts";
import { toLatex } from "./unicode.ts";

/** @internal An answer as tokens. */
export interface Normalized {
  readonly tokens: readonly Token[];
  /** The same for answers that differ only in notation. */
  readonly key: string;
  /** Why it has no structure: only the key can be compared. */
  readonly problem: string | undefined;
}

/** @internal Brings an answer into one notation, in time linear in its length. */
export function normalize(text: string): Normalized {
  const trimmed = trimText(text);
  if (trimmed.length > MAX_LENGTH) return { tokens: [], key: trimmed, problem: "too long" };
  try {
    const scanner = new Scanner(toLatex(trimmed));
    const scanned = scanner.tokens();
    if (!scanner.balanced) return { tokens: [], key: trimmed, problem: "a brace is not closed" };
    assertDepth(scanned);
    const tokens = trimTokens(joinSigns(writeArguments(joinThousands(marks(scanned)))));
    return { tokens, key: render(tokens), problem: undefined };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { tokens: [], key: trimmed, problem: error.message };
  }
}

/**
 * An answer in one notation: LaTeX without sizes, fonts, display style and needless blanks, `\frac12` as
 * `\frac{1}{2}`, `10,000` as `10000`. Normalising twice changes nothing.
 *
 * @param text - an answer; longer ones than 4096 characters are only trimmed
 */
export function normalizeAnswer(text: string): string {
  return normalize(text).key;
}

function assertDepth(tokens: readonly Token[]): void {
  let depth = 0;
  for (const found of tokens) {
    depth = Math.max(0, depth + nesting(found));
    if (depth > MAX_DEPTH) throw new Unreadable("brackets within brackets");
  }
}

const BLANK = /\s/;

// Blanks, Markdown emphasis and quotation marks around the whole answer.
function trimText(text: string): string {
  let [start, end] = [0, text.length];
  for (;;) {
    while (start < end && BLANK.test(text[start]!)) start++;
    while (end > start && BLANK.test(text[end - 1]!)) end--;
    const first = text[start];
    if (
      end - start < 2 ||
      first !== text[end - 1] ||
      (first !== "*" && first !== "`" && first !== "'" && first !== '"')
    )
      return text.slice(start, end);
    start++;
    end--;
  }
}

// Degrees and primes, which LaTeX writes as exponents.
function marks(tokens: readonly Token[]): Token[] {
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const [a, b, c, d] = tokens.slice(i, i + 4);
    if (is(a, "^") && is(b, "\\circ")) i += 1;
    else if (is(a, "^") && is(b, "{") && is(c, "\\circ") && is(d, "}")) i += 3;
    else {
      if (is(a, "^") && is(b, "'")) continue;
      if (is(a, "^") && is(b, "{") && is(c, "'") && is(d, "}")) {
        out.push(symbol("'"));
        i += 3;
      } else out.push(a!);
      continue;
    }
    out.push(token("command", "\\degree"));
  }
  return out;
}

function trimTokens(tokens: readonly Token[]): Token[] {
  let [start, end] = [0, tokens.length];
  for (;;) {
    while (end > start && is(tokens[end - 1], ".", ",", ";", ":", "\\\\")) end--;
    while (start < end && is(tokens[start], ":", "=", ";")) start++;
    if (end - start > 2 && is(tokens[start], "{") && closing(tokens, start) === end - 1) {
      start++;
      end--;
    } else break;
  }
  const kept = joinSigns(tokens.slice(start, end));
  return kept.map((found, i) => blank(kept[i - 1], found));
}

const APART = new Set(["number", "letter", "word"]);

// A blank matters between numbers, letters and words only, and two texts are always apart.
function blank(before: Token | undefined, found: Token): Token {
  const apart = before !== undefined && APART.has(before.kind) && APART.has(found.kind);
  const space = apart && (found.space || found.roman || (before.roman && found.kind === "word"));
  return space === found.space ? found : { ...found, space };
}
