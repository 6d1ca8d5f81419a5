import { nesting, type Token } from "../normalize/token.ts";

/** @internal Parts of a token list between separators that are in no bracket, and the separators. */
export function splitTop(
  tokens: readonly Token[],
  isSeparator: (found: Token, i: number) => boolean,
): { parts: Token[][]; separators: Token[] } {
  const parts: Token[][] = [[]];
  const separators: Token[] = [];
  let depth = 0;
  for (const [i, found] of tokens.entries()) {
    const change = nesting(found);
    depth += change;
    if (depth === 0 && change === 0 && isSeparator(found, i)) {
      separators.push(found);
      parts.push([]);
    } else parts.at(-1)!.push(parts.at(-1)!.length === 0 && found.space ? { ...found, space: false } : found);
  }
  return { parts, separators };
}

const CONJUNCTIONS = new Set(["and", "or"]);

/** @internal Elements of a list: separated by commas, semicolons, new lines, "and" or "or". */
export function splitList(tokens: readonly Token[]): { parts: Token[][]; join: "and" | "or" | "," } {
  const { parts, separators } = splitTop(
    tokens,
    ({ kind, text }) =>
      (kind === "symbol" && (text === "," || text === ";")) ||
      (kind === "command" && (text === "\\\\" || text === "\\wedge" || text === "\\vee")) ||
      (kind === "word" && CONJUNCTIONS.has(text.toLowerCase())),
  );
  const last = separators.at(-1)?.text.toLowerCase();
  const join = last === "or" || last === "\\vee" ? "or" : last === "and" || last === "\\wedge" ? "and" : ",";
  return { parts: parts.filter((part) => part.length > 0), join };
}
