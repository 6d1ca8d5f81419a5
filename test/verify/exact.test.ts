// What needs no reader of LaTeX: plain numbers, which most answers are, are settled as fractions of integers.
import { describe, expect, it } from "vitest";
import { verify } from "../../lib/verify/index.ts";

const r = String.raw;

describe("numbers in their common forms", () => {
  it.each([
    ["0.5", r`\frac12`],
    ["5/10", "0.5"],
    [r`-\frac{3}{4}`, r`\frac{-3}{4}`],
    [r`2\frac37`, r`\frac{17}{7}`],
    [r`-2\frac37`, r`-\frac{17}{7}`],
    ["2 3/7", r`\frac{17}{7}`],
    [r`4.\overline{6}`, r`\frac{14}{3}`],
    [r`4.1\overline{6}`, r`\frac{25}{6}`],
    [r`3.2\times10^{7}`, "3.2e7"],
    [r`\frac{1/3}{2}`, r`\frac16`],
  ])("%s and %s are one fraction", (prediction, reference) => {
    expect(verify(prediction, reference)).toEqual({ status: "equal", by: "exact" });
    expect(verify(reference, prediction)).toEqual({ status: "equal", by: "exact" });
  });

  it.each([
    ["0.3333", r`\frac13`],
    [r`2\frac37`, r`\frac67`],
    [r`4.\overline{6}`, "4.6"],
    [r`3.2\times10^{7}`, "3.2e6"],
    ["12346", "12345"],
  ])("%s and %s are two", (prediction, reference) => {
    expect(verify(prediction, reference)).toEqual({ status: "different", by: "exact" });
  });
});
