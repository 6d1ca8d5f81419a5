/** @internal The content of a box and where it stands. */
export interface Box {
  readonly content: string;
  readonly start: number;
  readonly end: number;
}

const NAMES = ["\\boxed", "\\fbox"];

/** @internal The last complete box of a text at or before `before`; undefined without one. Linear in the text. */
export function lastBox(text: string, before = text.length): Box | undefined {
  let nested: Box | undefined;
  for (let at = before; ; at--) {
    at = Math.max(...NAMES.map((name) => (at < 0 ? -1 : text.lastIndexOf(name, at))));
    if (at < 0) return nested;
    const box = readBox(text, at);
    if (box === undefined || box.end > before) continue;
    // A box within a box: the outer one is the answer.
    if (nested === undefined) nested = box;
    else if (box.end >= nested.end) nested = box;
    else return nested;
    if (at === 0) return nested;
  }
}

/** `\boxed{..}` with its braces matched, or `\boxed 5` up to the end of the formula. */
function readBox(text: string, start: number): Box | undefined {
  let at = start + (text.startsWith(NAMES[0]!, start) ? NAMES[0]!.length : NAMES[1]!.length);
  while (text[at] === " ") at++;
  if (text[at] !== "{") return readBare(text, start, at);
  let depth = 0;
  for (let end = at; end < text.length; end++) {
    const c = text[end];
    if (c === "\\") end++;
    else if (c === "{") depth++;
    else if (c === "}" && --depth === 0) return { content: text.slice(at + 1, end), start, end: end + 1 };
  }
  return undefined;
}

const BARE = 40;

function readBare(text: string, start: number, at: number): Box | undefined {
  let end = at;
  while (end < text.length && end - at < BARE && !" $\n\\.,;".includes(text[end]!)) end++;
  if (end === at || !/^[-\w]/.test(text[at]!) || text[at - 1] !== " ") return undefined;
  return { content: text.slice(at, end), start, end };
}
