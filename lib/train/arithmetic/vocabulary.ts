import { ArgumentError } from "../../errors.ts";

/** Texts of the 19 tokens, by id. Padding, start and end have no text. */
export const TOKENS = [
  "",
  "",
  "",
  "\n\n",
  "\\boxed{",
  "}",
  "=",
  "+",
  "-",
  "0",
  "1",
  "2",
  "3",
  "4",
  "5",
  "6",
  "7",
  "8",
  "9",
] as const;

/** Id of padding. */
export const PAD = 0;
/** Id of the token that starts a prompt. */
export const BOS = 1;
/** Id of the token that ends a solution. */
export const EOS = 2;
/** Id of the blank line that ends a step. */
export const SEPARATOR = 3;

/** Id of the token that opens the box. */
export const BOX = 4;
/** Id of the brace that closes it. */
export const CLOSE = 5;
/** Id of the equals sign. */
export const EQUALS = 6;

/** @internal Id of a digit. */
export function digitToken(digit: number): number {
  return 9 + digit;
}

/** @internal Id of a sign. */
export function signToken(sign: "+" | "-"): number {
  return sign === "+" ? 7 : 8;
}

/** The text of token ids. */
export function decodeTokens(ids: Iterable<number>): string {
  return Array.from(ids, (id) => TOKENS[id] ?? "").join("");
}

/**
 * The token ids of a text.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE` for a text that the vocabulary cannot spell
 */
export function encodeTokens(text: string): number[] {
  const ids: number[] = [];
  for (let at = 0; at < text.length; ) {
    const id = TOKENS.findIndex((token) => token !== "" && text.startsWith(token, at));
    if (id < 0) {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `text: expected digits, signs, "=", blank lines and \\boxed{}, got ${JSON.stringify(text.slice(at, at + 10))}`,
      );
    }
    ids.push(id);
    at += TOKENS[id]!.length;
  }
  return ids;
}
