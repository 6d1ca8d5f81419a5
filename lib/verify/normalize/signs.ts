import { is, type Token, token } from "./token.ts";

const JOINED: Readonly<Record<string, Token>> = {
  "<=": token("command", "\\le"),
  ">=": token("command", "\\ge"),
  "==": token("symbol", "="),
};
const BEFORE_VALUE = ["(", "[", "{", "\\{", "=", "<", ">", "\\le", "\\ge", "\\in", "\\cup"];

/**
 * @internal Signs of several characters that something stood between, `< =` or `{<}=`, as one; a plus sign that only
 * says that a value is positive is dropped.
 */
export function joinSigns(tokens: readonly Token[]): Token[] {
  const out: Token[] = [];
  for (const [i, found] of tokens.entries()) {
    const last = out.at(-1);
    if (is(found, "+") && isSign(last, tokens[i + 1])) continue;
    const joined = is(found, "=") && last?.kind === "symbol" ? JOINED[`${last.text}=`] : undefined;
    const dots = is(found, ".") && is(last, ".") && is(out.at(-2), ".");
    if (joined !== undefined) out.splice(-1, 1, joined);
    else if (dots) out.splice(-2, 2, token("command", "\\ldots"));
    else out.push(found);
  }
  return out;
}

// After a comma a number stays apart from it: 1,+000 is no thousand.
function isSign(before: Token | undefined, next: Token | undefined): boolean {
  if (next === undefined || (next.kind === "symbol" && next.text !== "(")) return false;
  return before === undefined || is(before, ...BEFORE_VALUE) || (is(before, ",") && next.kind !== "number");
}
