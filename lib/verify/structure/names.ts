import { closing, is, render, type Token } from "../normalize/token.ts";
import { splitTop } from "./split.ts";

/** @internal The two sides of `name = value` or `value = name`; undefined when neither side is a name. */
export function assignedName(tokens: readonly Token[]): { name: string; value: Token[] } | undefined {
  const { parts } = splitTop(tokens, (found) => is(found, "="));
  const [left, right] = [parts[0]!, parts.at(-1)!];
  if (parts.length < 2 || parts.some((part) => part.length === 0)) return undefined;
  if (isName(left)) return { name: render(left), value: right };
  return parts.length === 2 && isSymbol(right) ? { name: render(right), value: left } : undefined;
}

const CONSTANTS = new Set(["e", "i", "\\pi", "\\infty", "\\emptyset"]);
const NAMING = new Set([
  ..."\\angle \\triangle \\overline \\vec \\bar \\hat \\Delta \\operatorname{lcm} \\gcd \\det".split(" "),
]);
const STARTS = /^\\[a-zA-Z]+$/;

/** @internal A letter, Greek letter or word with optional subscript and primes. */
export function isSymbol(tokens: readonly Token[]): boolean {
  const [head, ...rest] = tokens;
  if (head === undefined || CONSTANTS.has(head.text)) return false;
  const greek = head.kind === "command" && STARTS.test(head.text) && !NOT_SYMBOLS.has(head.text);
  if (head.kind !== "letter" && head.kind !== "word" && !greek) return false;
  let at = 0;
  if (is(rest[0], "_")) at = closing(rest, 1) + 1;
  while (is(rest[at], "'")) at++;
  return at === rest.length;
}

const NOT_SYMBOLS = new Set(
  "\\frac \\sqrt \\binom \\cdot \\pm \\mp \\infty \\emptyset \\ldots \\degree \\le \\ge \\pi \\R \\Z \\N \\Q \\C".split(
    " ",
  ),
);

/** @internal A symbol, several words, a function of something, an absolute value, an angle or a segment. */
export function isName(tokens: readonly Token[]): boolean {
  if (isSymbol(tokens)) return true;
  const head = tokens[0];
  if (head === undefined) return false;
  if (
    tokens.every(
      ({ kind, text }) =>
        kind === "word" || kind === "letter" || NAMING.has(text) || text === "{" || text === "}",
    )
  )
    return head.kind === "word" || head.kind === "command";
  if (is(head, "|"))
    return tokens.length > 2 && tokens.findIndex((found, i) => i > 0 && is(found, "|")) === tokens.length - 1;
  if (is(head, "(") && closing(tokens, 0) === tokens.length - 1)
    return splitTop(tokens.slice(1, -1), (found) => is(found, ",")).parts.every((part) => isName(part));
  const open = tokens.findIndex((found) => is(found, "("));
  return open > 0 && isSymbol(tokens.slice(0, open)) && closing(tokens, open) === tokens.length - 1;
}

/** @internal A sum or product of at least two symbols, without numbers: `m+n`, `x-y`. */
export function isPlainSum(tokens: readonly Token[]): boolean {
  const { parts } = splitTop(tokens, (found) => is(found, "+", "-", "\\cdot"));
  return parts.length > 1 && parts.every((part) => isSymbol(part));
}
