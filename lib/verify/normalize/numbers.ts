import { is, nesting, type Token } from "./token.ts";

const LEADING = /^[1-9]\d{0,2}$/;
const GROUP = /^\d{3}$/;
const LAST = /^\d{3}(\.\d+)?$/;

/**
 * @internal Joins the groups of three digits of one number: `1,000`, `1{,}000`, `10 080`. Commas between brackets
 * separate elements, unless they are in braces; a run of digits with a group of another length is a list.
 */
export function joinThousands(tokens: readonly Token[]): Token[] {
  const out: Token[] = [];
  let depth = 0;
  for (let i = 0; i < tokens.length; i++) {
    const head = tokens[i]!;
    if (head.kind !== "number" || isArgument(tokens, i)) {
      depth += is(head, "{", "}") ? 0 : nesting(head);
      out.push(head);
      continue;
    }
    const run = groupsFrom(tokens, i, depth > 0);
    if (run.groups.length === 0) {
      out.push(head);
      continue;
    }
    const whole =
      LEADING.test(head.text) &&
      run.groups.every((text, k) => (k === run.groups.length - 1 ? LAST : GROUP).test(text));
    if (whole) out.push({ ...head, text: head.text + run.groups.join("") });
    else for (const found of tokens.slice(i, run.end)) if (!is(found, "{", "}")) out.push(found);
    i = run.end - 1;
  }
  return out;
}

function isArgument(tokens: readonly Token[], i: number): boolean {
  const before = tokens[i - 1];
  const second = before?.kind === "number" && is(tokens[i - 2], "\\frac", "\\binom");
  return second || is(before, "\\frac", "\\binom", "^", "_");
}

function groupsFrom(
  tokens: readonly Token[],
  start: number,
  bracketed: boolean,
): { groups: string[]; end: number } {
  const groups: string[] = [];
  let end = start + 1;
  for (;;) {
    const [a, b, c, d] = tokens.slice(end, end + 4);
    if (is(a, "{") && is(b, ",") && is(c, "}") && d?.kind === "number") end += 4;
    else if (is(a, ",") && b?.kind === "number" && !b.space && !bracketed) end += 2;
    else if (a?.kind === "number" && a.space) end += 1;
    else return { groups, end };
    groups.push(tokens[end - 1]!.text);
  }
}
