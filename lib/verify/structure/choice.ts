import { is, type Token } from "../normalize/token.ts";

/** @internal The letter of a multiple-choice answer: `C`, `(C)`, `C.`; `clear` when it can be no variable. */
export interface Choice {
  readonly letter: string;
  readonly clear: boolean;
}

const LETTER = /^[A-Ja-j]$/;

/** @internal Reads tokens that are nothing but a choice. */
export function readChoice(tokens: readonly Token[]): Choice | undefined {
  const wrapped = is(tokens[0], "(") && is(tokens.at(-1), ")");
  const inner = wrapped ? tokens.slice(1, -1) : is(tokens.at(-1), ")") ? tokens.slice(0, -1) : tokens;
  const [only] = inner;
  if (inner.length !== 1 || !LETTER.test(only!.text)) return undefined;
  const clear = inner.length < tokens.length || only!.roman;
  return clear || /[A-J]/.test(only!.text) ? { letter: only!.text.toUpperCase(), clear } : undefined;
}

/** @internal A choice with its text after it: `C. 42`, `(C) 42`, `C) 42`. */
export function readLabelled(tokens: readonly Token[]): Choice | undefined {
  const end = tokens.findIndex((found, i) => i > 0 && i < 3 && is(found, ")", ".", ":"));
  if (end < 0) return undefined;
  const label = is(tokens[end], ")") ? tokens.slice(0, end + 1) : tokens.slice(0, end);
  const choice = readChoice(label);
  return choice !== undefined && /[A-J]/.test(tokens[is(label[0], "(") ? 1 : 0]!.text)
    ? { ...choice, clear: true }
    : undefined;
}
