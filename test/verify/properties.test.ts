// What holds for any text. MINFORM_FUZZ is the number of cases; scripts/fuzz-verify.sh runs many.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizeAnswer, type Verdict, verify } from "../../lib/verify/index.ts";
import { answers, damaged, expressions } from "../support/latex.ts";

const numRuns = Number(process.env.MINFORM_FUZZ ?? 10_000);
const seed = Number(process.env.MINFORM_FUZZ_SEED ?? 1);
const text = fc.oneof({ weight: 3, arbitrary: damaged }, { weight: 1, arbitrary: answers }, fc.string());
const STATUSES = ["equal", "different", "noAnswer", "unparsed", "timeout", "badReference"];
const cases = (share: number): { numRuns: number; seed: number } => ({
  numRuns: Math.ceil(numRuns * share),
  seed,
});
const isEqual = (verdict: Verdict): boolean => verdict.status === "equal";

describe("verify", () => {
  it(
    "answers any pair with one status, the same for both orders",
    () => {
      fc.assert(
        fc.property(text, text, fc.nat({ max: 3 }), (a, b, turn) => {
          const verdict = verify(a, b);
          expect(STATUSES).toContain(verdict.status);
          if (turn === 0 || isEqual(verdict)) expect(isEqual(verify(b, a))).toBe(isEqual(verdict));
        }),
        cases(0.7),
      );
    },
    numRuns * 60,
  );

  it("takes any text for equal to itself, with blanks around it too", () => {
    fc.assert(
      fc.property(text, (a) => {
        fc.pre(a.trim() !== "");
        expect(verify(a, a).status).toBe("equal");
        expect(verify(` ${a}\n`, a).status).toBe("equal");
      }),
      cases(0.1),
    );
  });

  it("normalises once and for all", () => {
    fc.assert(
      fc.property(text, (a) => {
        expect(normalizeAnswer(normalizeAnswer(a))).toBe(normalizeAnswer(a));
      }),
      cases(0.1),
    );
  });

  it("never takes a number for one more than it", () => {
    fc.assert(
      fc.property(expressions, (a) => {
        expect(isEqual(verify(`(${a})+1`, a))).toBe(false);
        expect(isEqual(verify(`-(${a})-\\sqrt{2}`, `-(${a})`))).toBe(false);
      }),
      cases(0.02),
    );
  });

  it("takes a sum for the same in another order, and a product with one for the same", () => {
    fc.assert(
      fc.property(expressions, fc.nat({ max: 50 }), (a, k) => {
        const outcome = verify(`${k}+(${a})`, `(${a})+${k}`).status;
        expect(["equal", "unparsed", "timeout", "badReference"]).toContain(outcome);
      }),
      cases(0.02),
    );
  });
});

describe("exact numbers", () => {
  it("are equal when they are the same fraction, in any notation", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -999, max: 999 }),
        fc.integer({ min: 1, max: 99 }),
        fc.integer({ min: 1, max: 9 }),
        (n, d, k) => {
          const reference = `\\frac{${n}}{${d}}`;
          for (const same of [`${n}/${d}`, `\\dfrac{${k * n}}{${k * d}}`, `\\frac{${-n}}{${-d}}`])
            expect(verify(same, reference).status).toBe("equal");
          expect(verify(`\\frac{${n * k + 1}}{${d * k}}`, reference).status).toBe("different");
        },
      ),
      cases(0.05),
    );
  });

  it("are equal in any grouping of their digits", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 10 ** 12 }), (n) => {
        const commas = n.toLocaleString("en-US");
        for (const same of [
          commas,
          commas.replaceAll(",", "{,}"),
          commas.replaceAll(",", "\\,"),
          commas.replaceAll(",", " "),
        ])
          expect(verify(same, String(n)).status).toBe("equal");
        expect(verify(commas, String(n + 1)).status).toBe("different");
      }),
      cases(0.02),
    );
  });
});
