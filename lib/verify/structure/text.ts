import { render, type Token } from "../normalize/token.ts";
import type { Text } from "./value.ts";

const ARTICLES = new Set(["a", "an", "the"]);

/** @internal Reads tokens that are nothing but words; undefined for anything else. */
export function readText(tokens: readonly Token[]): Text | undefined {
  if (!tokens.some(({ kind }) => kind === "word")) return undefined;
  const onlyWords = tokens.every(({ kind }) => kind === "word" || kind === "letter");
  const upright = tokens.every(
    ({ kind, roman, text }) =>
      (kind === "word" && (roman || text.length > 2)) || (kind === "symbol" && "-'.!?".includes(text)),
  );
  if (!onlyWords && !upright) return undefined;
  return { kind: "text", key: render(tokens), words: tokens.map(({ text }) => text), tokens };
}

/** @internal Words without case, articles and plural endings. */
export function plainWords({ words }: Text): string {
  const lower = words.map((word) => word.toLowerCase()).filter((word) => /[a-z]/.test(word));
  const content = lower.filter((word) => !ARTICLES.has(word));
  return (content.length > 0 ? content : lower).map(singular).join(" ");
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

const NOTHING = new Set([
  "no solution",
  "no real solution",
  "no solution exist",
  "there are no solution",
  "there is no solution",
  "none",
  "empty set",
  "empty",
]);

/** @internal Whether a text says that there is nothing: another way to write the empty set. */
export function saysNothing(text: Text): boolean {
  return NOTHING.has(plainWords(text));
}

const ONES =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");

/** @internal The number below one thousand that words name: `eight`, `twenty-one`, `two hundred five`. */
export function namedNumber(words: readonly string[]): number | undefined {
  const parts = words.map((word) => word.toLowerCase()).filter((word) => word !== "-");
  if (parts[1] !== "hundred") return belowHundred(parts);
  const hundreds = ONES.indexOf(parts[0]!);
  const rest = parts.slice(2);
  const ones = rest.length === 0 && parts.length === 2 ? 0 : belowHundred(rest);
  return hundreds > 0 && hundreds < 10 && ones !== undefined ? 100 * hundreds + ones : undefined;
}

function belowHundred(parts: readonly string[]): number | undefined {
  const one = ONES.indexOf(parts.at(-1) ?? "");
  const ten = TENS.indexOf(parts[0] ?? "");
  if (parts.length === 1) return one >= 0 ? one : ten >= 0 ? 10 * (ten + 2) : undefined;
  return parts.length === 2 && ten >= 0 && one > 0 && one < 10 ? 10 * (ten + 2) + one : undefined;
}
