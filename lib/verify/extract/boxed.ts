/** @internal The content of a box and where it stands. */
export interface Box {
  readonly content: string;
  readonly start: number;
  readonly end: number;
}

const NAMES = ["\\boxed", "\\fbox"];

/**
 * @internal The complete boxes of a text that are in no other complete one, in order: `\boxed{..}` with its braces
 * matched, or `\boxed 5`. One pass over the text, however many boxes stay open.
 */
export function findBoxes(text: string): Box[] {
  const first = NAMES.map((name) => text.indexOf(name)).filter((at) => at >= 0);
  if (first.length === 0) return [];
  const found: Box[] = [];
  // Per open brace: where it is, and where its box starts or -1.
  const open: number[] = [];
  for (let i = Math.min(...first); i < text.length; i++) {
    const c = text[i];
    if (c === "\\") {
      const name = NAMES.find((one) => text.startsWith(one, i));
      if (name === undefined) {
        i++;
        continue;
      }
      let at = i + name.length;
      while (text[at] === " ") at++;
      if (text[at] === "{") open.push(at, i);
      else {
        const bare = readBare(text, i, at);
        if (bare !== undefined) found.push(bare);
        at = (bare?.end ?? at) - 1;
      }
      i = at;
    } else if (c === "{") open.push(i, -1);
    else if (c === "}") {
      const box = open.pop() ?? -1;
      const at = open.pop() ?? -1;
      if (box >= 0) keep(found, text, at, box, i);
    }
  }
  return found;
}

// A box takes the place of those within it.
function keep(found: Box[], text: string, at: number, box: number, end: number): void {
  while (found.length > 0 && found.at(-1)!.start > box) found.pop();
  found.push({ content: text.slice(at + 1, end), start: box, end: end + 1 });
}

const LONGEST_BARE = 40;

function readBare(text: string, start: number, at: number): Box | undefined {
  let end = at;
  while (end < text.length && end - at < LONGEST_BARE && !" $\n\\.,;".includes(text[end]!)) end++;
  if (end === at || !/[-\w]/.test(text[at]!) || text[at - 1] !== " ") return undefined;
  return { content: text.slice(at, end), start, end };
}
