import { describe, expect, it } from "vitest";
import { ragged, repetitionScores } from "../../lib/index.ts";
import { expectClose } from "../support/compare.ts";

describe("repetition score by hand", () => {
  it.each([
    ["", 0],
    ["a", 0],
    ["ab", 0],
    ["aa", 1 / 3], // LCP 1
    ["aaaa", 3 / 5], // (n - 1) / (n + 1)
    ["abab", 3 / 10], // ab|abab 2, b|bab 1
    ["banana", 2 / 7], // a|ana 1, ana|anana 3, na|nana 2
    ["mississippi", 13 / 66], // 1 + 1 + 4 + 1 + 1 + 2 + 1 + 3 - 1 = 13 over 66
    ["abcdefghij", 0],
  ])("%j", (text, expected) => {
    expectClose(repetitionScores([text]), [expected], 1e-15);
  });

  it("counts code points, not UTF-16 units, and lone surrogates as code points of their own", () => {
    expectClose(repetitionScores(["\u{1F600}\u{1F600}"]), [1 / 3], 1e-15);
    // High surrogates of two different code points are equal, the code points are not.
    expect(repetitionScores(["\u{1F600}\u{1F601}"])[0]).toBe(0);
    expectClose(repetitionScores(["\uD83D\uD83D"]), [1 / 3], 1e-15);
    expect(repetitionScores(["\uD83D\uDE00\uDE00"])[0]).toBe(0);
  });

  it("a megabyte of one letter, and of one short phrase", () => {
    const n = 2 ** 20;
    const [letters, phrases] = repetitionScores(["a".repeat(n), "abcd".repeat(n / 4)]);
    expect(letters).toBe((n - 1) / (n + 1));
    // Suffixes i and i + 4 are neighbours: sum of n - i - 4 over i = (n - 4)(n - 3) / 2.
    expectClose([phrases!], [((n - 4) * (n - 3)) / (n * (n + 1))], 1e-15);
  });

  it("token ids of any size", () => {
    const scores = repetitionScores(ragged([[2147483647, 0, 2147483647, 0], [], [7], [5, 5]], "int32"));
    expectClose(scores, [3 / 10, 0, 0, 1 / 3], 1e-15);
  });
});
