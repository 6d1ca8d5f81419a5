import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extractAnswer } from "../../lib/verify/index.ts";

const r = String.raw;

describe("extractAnswer", () => {
  it.each<[string, string, string | undefined]>([
    ["the last box", r`\boxed{6}, no: \boxed{8}.`, "8"],
    ["nested braces", r`$r=\boxed{\sqrt{\frac{2}{3}}}$`, r`\sqrt{\frac{2}{3}}`],
    ["escaped braces", r`\boxed{\{1,2\}}`, r`\{1,2\}`],
    ["the outer of two boxes", r`\boxed{\boxed{5}}`, r`\boxed{5}`],
    ["a complete box within an open one", r`\boxed{1+\boxed{5}`, "5"],
    ["a complete box before an open one", r`\boxed{7} then \boxed{8`, "7"],
    ["a frame", r`\fbox{11}`, "11"],
    ["no braces", r`$\boxed 7$`, "7"],
    ["a blank", r`$\boxed {5}$`, "5"],
    ["neighbours joined by and", r`$\boxed{2}$ and $\boxed{3}$`, "2, 3"],
    ["neighbours joined by commas", r`$\boxed{1}$, $\boxed{2}$, or $\boxed{3}$`, "1, 2, 3"],
    ["neighbours that are not joined", r`\boxed{2} \boxed{3}`, "3"],
    ["an open box", r`\boxed{12`, undefined],
    ["an empty box", r`\boxed{}`, undefined],
    ["no box", "The answer is 5.", undefined],
    ["thinking", r`<think>\boxed{10}</think> \boxed{15}`, "15"],
    ["nothing after thinking", r`<think>\boxed{10}</think> so it is 15`, undefined],
    ["thinking without end", r`<think>\boxed{10}`, undefined],
    ["the end of thinking that a prompt began", r`\boxed{1}</think>\boxed{2}`, "2"],
  ])("%s", (_, response, answer) => {
    expect(extractAnswer(response)).toBe(answer);
  });

  it.each<[string, string | undefined]>([
    ["Final Answer: The final answer is $\\frac{1}{2}$. I hope it is correct.", "$\\frac{1}{2}$"],
    ["Thus, the answer is: $-7$", "$-7$"],
    ["Answer: 3\nHmm.\nAnswer: 5", "5"],
    ["It is 2.5 at most. The answer is 2.5.", "2.5"],
    ["She has 9 eggs. #### 18", "18"],
    ["Adding up:\n**73**", "73"],
    ["I saw 31 and 32", undefined],
  ])("phrases: %s", (response, answer) => {
    expect(extractAnswer(response, { fallback: "phrases" })).toBe(answer);
  });

  it("takes the last number where one asks for it", () => {
    expect(extractAnswer("4 and 6 give 1,500 dollars.", { fallback: "lastNumber" })).toBe("1,500");
    expect(extractAnswer("none", { fallback: "lastNumber" })).toBeUndefined();
  });

  it("finds what was boxed last in any text", () => {
    const braced = fc.string().map((text) => text.replace(/[{}\\<]/g, ""));
    fc.assert(
      fc.property(braced, fc.string({ minLength: 1 }), (before, inside) => {
        const answer = inside.replace(/[{}\\]/g, "").trim();
        fc.pre(answer !== "");
        expect(extractAnswer(`${before} so \\boxed{${answer}}`)).toBe(answer);
      }),
      { seed: 1 },
    );
  });
});
