import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Tokenizer } from "../../lib/model/index.ts";
import { mapSteps, policyStepEnds, splitSteps } from "../../lib/prm/index.ts";
import { sharedPath, tokenizerOf } from "../support/checkpoints.ts";
import { errorCode } from "../support/compare.ts";
import { seeded } from "../support/generators.ts";
import { toyTokenizer } from "../support/toy-tokenizer.ts";

const newlines = ["\n", "\n\n", "\n\n\n", "\n\n\n\n", "\r\n\r\n", " \n\n", "\n \n", "\n\n\t"];
const words = [
  "So",
  " 12",
  ".",
  ")",
  "$x$",
  "A.",
  ".x",
  ").(",
  " ",
  "é",
  "数学",
  "。",
  "👩‍🔬",
  "𝕏",
  "\uFFFD",
  "ки",
];
const pieces = fc.array(fc.constantFrom(...words, ...newlines, ...newlines), { minLength: 1, maxLength: 14 });
const separators = fc.constantFrom("\n\n", "\n\n", "\n", "\r\n\r\n", "\n\n\n", ".", "。", " ", "S");
// A policy need not sample the tokens that its tokenizer would choose.
const spelling = fc.constantFrom<(parts: string[]) => string[]>(
  (parts) => [parts.join("")],
  (parts) => parts,
  (parts) => Array.from(parts.join("")),
);

/** Index of the token with which each character of a text is complete, from the decoded prefixes alone (no U+FFFD). */
function completedBy(ids: readonly number[], tokenizer: Tokenizer, text: string): number[] {
  const out: number[] = [];
  for (let n = 0; n < ids.length; n++) {
    const prefix = tokenizer.decode(ids.slice(0, n + 1));
    let known = 0;
    while (known < prefix.length && prefix[known] === text[known]) known++;
    while (out.length < known) out.push(n);
  }
  return out;
}

function check(
  tokenizer: Tokenizer,
  parts: string[],
  spell: (parts: string[]) => string[],
  separator: string,
  closed: boolean,
): void {
  const own = spell(parts).flatMap((part) => tokenizer.encode(part));
  const ids = closed && tokenizer.eosId !== undefined ? [...own, tokenizer.eosId] : own;
  const text = tokenizer.decode(own);
  const spans = splitSteps(text, separator);
  const completed = completedBy(own, tokenizer, text);
  const ownEnds = spans.map(({ end }) => completed[end - 1]!);
  if (new Set(ownEnds).size < ownEnds.length) {
    expect(errorCode(() => mapSteps(ids, tokenizer, { separator }))).toBe("ERR_SHAPE");
    return;
  }
  const map = mapSteps(ids, tokenizer, { separator });
  expect(map.text).toBe(text);
  expect(map.steps.map(({ start, end }) => ({ start, end }))).toEqual(spans);
  map.steps.forEach(({ start, end, firstToken, lastToken }, k) => {
    const [before, after] = [map.steps[k - 1], map.steps[k + 1]];
    // Decoders of sentence pieces drop the blank that a text begins with.
    const range = tokenizer.decode(ids.slice(firstToken, lastToken + 1));
    expect(range).toContain(text.slice(start, end).replace(/^ /, ""));
    expect(lastToken).toBeGreaterThan(before?.lastToken ?? -1);
    if (before === undefined) expect(firstToken).toBe(0);
    else expect(firstToken).toBeLessThanOrEqual(before.lastToken + 1);
    if (after === undefined) expect(lastToken).toBe(ids.length - 1);
    else if (lastToken !== completed[after.start - 1]) expect(after.lastToken).toBe(lastToken + 1);
  });
}

describe("splitSteps", () => {
  it("keeps exact text and drops pieces without a visible character", () => {
    const text = "A.\n\n\n\nB\n\n \n\nC\n\n";
    expect(splitSteps(text).map(({ start, end }) => text.slice(start, end))).toEqual(["A.", "B", "C"]);
    expect(splitSteps("")).toEqual([]);
    expect(errorCode(() => splitSteps("a", ""))).toBe("ERR_ARGUMENT_VALUE");
  });

  it('"\\n \\n" and "\\r\\n\\r\\n" are no separators', () => {
    expect(splitSteps("a\n \nb")).toHaveLength(1);
    expect(splitSteps("a\r\n\r\nb")).toHaveLength(1);
  });
});

describe("mapSteps", () => {
  it("every step ends at the token that ends its separator, fused with punctuation or not", () => {
    const tokenizer = toyTokenizer();
    const text = "It is 8.\n\nSo x\n\n\n\nDone)";
    const ids = [...tokenizer.encode(text), tokenizer.eosId!];
    const { steps } = mapSteps(ids, tokenizer);
    expect(steps.map(({ start, end }) => text.slice(start, end))).toEqual(["It is 8.", "So x", "Done)"]);
    const ends = steps.map(({ lastToken }) => tokenizer.tokenText(ids[lastToken]!));
    expect(ends).toEqual([".\n\n", "\n\n\n\n", "<|eos|>"]);
    expect(steps.map(({ firstToken }) => firstToken)).toEqual([
      0,
      ...steps.slice(0, -1).map((s) => s.lastToken + 1),
    ]);
  });

  it("a token that ends one step's separator and begins the next step belongs to both", () => {
    const tokenizer = toyTokenizer();
    const ids = tokenizer.encode("So\n\n\nSo");
    expect(ids).toHaveLength(3);
    expect(mapSteps(ids, tokenizer).steps).toEqual([
      { start: 0, end: 2, firstToken: 0, lastToken: 1 },
      { start: 4, end: 7, firstToken: 1, lastToken: 2 },
    ]);
  });

  it("a step gives its separator's token to a step that has no other; two ends in one token are an error", () => {
    const tokenizer = toyTokenizer();
    expect(mapSteps(tokenizer.encode("So.)"), tokenizer, { separator: "." }).steps).toMatchObject([
      { firstToken: 0, lastToken: 0 },
      { firstToken: 1, lastToken: 1 },
    ]);
    const fused = tokenizer.encode("So.(.]");
    expect(() => mapSteps(fused, tokenizer, { separator: "." })).toThrow(
      /token 1 ends two steps \(1 and 2\)/,
    );
  });

  it("steps hold in any spelling of a toy vocabulary", () => {
    fc.assert(
      fc.property(pieces, spelling, separators, fc.boolean(), (parts, spell, separator, closed) =>
        check(
          toyTokenizer(),
          parts.filter((part) => /^[\x20-\x7e\n]+$/.test(part)),
          spell,
          separator,
          closed,
        ),
      ),
      seeded,
    );
  });

  it("policyStepEnds: separators and the last token, rising, none twice", () => {
    const endsStep = (id: number): boolean => id === 7;
    expect(policyStepEnds([1, 7, 2, 7], endsStep)).toEqual([1, 3]);
    expect(policyStepEnds([7, 7, 2], endsStep)).toEqual([0, 1, 2]);
    expect(policyStepEnds([], endsStep)).toEqual([]);
  });
});

const names = ["pure-prm-tiny", "qwen-prm-tiny", "shepherd-tiny"];
if (sharedPath("checkpoints") === undefined)
  console.info("mapSteps on real vocabularies: skipped, no shared data");

describe.skipIf(sharedPath("checkpoints") === undefined).each(names)(
  "mapSteps in the vocabulary of %s",
  (name) => {
    let tokenizer: Tokenizer;
    beforeAll(async () => {
      tokenizer = await tokenizerOf(sharedPath("checkpoints", name)!);
    }, 120_000);

    it("the tokens of a step decode to a text that holds it, in any spelling", () => {
      fc.assert(
        fc.property(pieces, spelling, separators, fc.boolean(), (parts, spell, separator, closed) =>
          check(tokenizer, parts, spell, separator, closed),
        ),
        { ...seeded, numRuns: 300 },
      );
    });

    it("a replacement character of the text's own is a character like others", () => {
      const ids = tokenizer.encode("a \uFFFD\n\nb\uFFFD\uFFFDc\n\nd");
      const { text, steps } = mapSteps(ids, tokenizer);
      expect(text).toBe(tokenizer.decode(ids));
      const ranges = steps.map(({ firstToken, lastToken }) =>
        tokenizer.decode(ids.slice(firstToken, lastToken + 1)),
      );
      expect(ranges.map((range) => range.trim())).toEqual(["a \uFFFD", "b\uFFFD\uFFFDc", "d"]);
    });

    it("three newlines in one token or several", () => {
      for (const spell of [(text: string) => [text], (text: string) => Array.from(text)])
        check(tokenizer, ["So\n\n\nSo"], ([text]) => spell(text!), "\n\n", true);
    });
  },
);
