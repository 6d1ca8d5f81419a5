import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { getNumThreads, ragged, repetitionScores, setNumThreads } from "../../lib/index.ts";
import { repetitionScore } from "../reference/metrics.ts";
import { expectSameBits } from "../support/compare.ts";
import { permutation, seeded } from "../support/generators.ts";

const threads = getNumThreads();
afterEach(() => setNumThreads(threads));

const letters = (count: number) => fc.nat({ max: count - 1 });
const sequences = fc.array(
  fc.oneof(
    fc.array(letters(2), { maxLength: 80 }),
    fc.array(letters(4), { maxLength: 80 }),
    fc.array(fc.integer({ min: 0, max: 2 ** 31 - 1 }), { maxLength: 20 }),
    // A phrase over and over: many equal valley substrings, several levels of recursion.
    fc
      .tuple(fc.array(letters(3), { minLength: 1, maxLength: 9 }), fc.nat({ max: 12 }))
      .map(([phrase, times]) => Array.from({ length: times }, () => phrase).flat()),
  ),
  { minLength: 1, maxLength: 6 },
);

describe("repetitionScores", () => {
  it("is exactly the score of the sorted suffixes, in [0, 1)", () => {
    fc.assert(
      fc.property(sequences, (rows) => {
        const scores = repetitionScores(ragged(rows, "int32"));
        expectSameBits(scores, rows.map(repetitionScore));
        for (const score of scores) expect(score >= 0 && score < 1).toBe(true);
      }),
      { ...seeded, numRuns: 500 },
    );
  });

  it("every sequence of up to 9 letters out of 2, and up to 6 out of 3", () => {
    const all = (alphabet: number, length: number): number[][] =>
      length === 0
        ? [[]]
        : all(alphabet, length - 1).flatMap((rest) =>
            Array.from({ length: alphabet }, (_, letter) => [...rest, letter]),
          );
    for (const [alphabet, longest] of [
      [2, 9],
      [3, 6],
    ] as const) {
      for (let length = 1; length <= longest; length++) {
        const rows = all(alphabet, length);
        expectSameBits(repetitionScores(ragged(rows, "int32")), rows.map(repetitionScore));
      }
    }
  });

  it("strings and their code points agree", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "b", "é", "\u{1F600}", "\uD83D") }), {
          minLength: 1,
        }),
        (texts) => {
          const ids = texts.map((text) => Array.from(text, (point) => point.codePointAt(0)!));
          expectSameBits(repetitionScores(texts), repetitionScores(ragged(ids, "int32")));
        },
      ),
      seeded,
    );
  });

  it("depends on which elements are equal, not on their values; rows are independent", () => {
    const cases = sequences.chain((rows) => fc.tuple(fc.constant(rows), permutation(rows.length)));
    fc.assert(
      fc.property(cases, ([rows, order]) => {
        const scores = repetitionScores(ragged(rows, "int32"));
        const renamed = order.map((i) => rows[i]!.map((id) => 2 ** 31 - 1 - id));
        const permuted = repetitionScores(ragged(renamed, "int32"));
        expectSameBits(
          permuted,
          order.map((i) => scores[i]!),
        );
      }),
      seeded,
    );
  });

  it("the same bits for 1, 2 and 5 threads", () => {
    const texts = Array.from({ length: 50 }, (_, i) => "the sum is ".repeat(i) + "so x = 2 ".repeat(50 - i));
    const run = (count: number) => {
      setNumThreads(count);
      return repetitionScores(texts);
    };
    const once = run(1);
    for (const count of [2, 5]) expectSameBits(run(count), once);
  });
});
