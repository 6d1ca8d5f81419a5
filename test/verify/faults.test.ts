// Public reports against other graders, each with its smallest pair.
import { describe, expect, it } from "vitest";
import {
  createReward,
  createVerifier,
  extractAnswer,
  graders,
  type VerdictStatus,
  verify,
  verifyResponse,
} from "../../lib/verify/index.ts";

const r = String.raw;
type Fault = readonly [report: string, prediction: string, reference: string, equal: boolean];

const faults: readonly Fault[] = [
  ["1 tiny numbers are equal (Math-Verify #14)", r`1/2^{98}`, r`1/2^{99}`, false],
  ["1 tiny factorials are equal (Math-Verify #14)", r`1/2006!`, r`1/2004!`, false],
  [
    "2 tiny numbers in a sum (Math-Verify #14)",
    r`\frac{1}{3\cdot2^{2006}}`,
    r`\frac{2^{2005}+1}{3\cdot2^{2006}}`,
    false,
  ],
  ["3 lists with dots (Math-Verify #14)", r`1,3,5,\ldots,2n-1`, r`1,2,\ldots,n`, false],
  [
    "4 a number picked out of a formula (Math-Verify #14, PR #82)",
    r`$1+\frac1{\mathrm e}$`,
    r`$1-\frac1{\mathrm e}$`,
    false,
  ],
  ["5 plus-minus dropped (Math-Verify #14)", "2021", r`\pm2021`, false],
  ["6 clock read as ratio (Math-Verify #14)", "1:00", "12:00", false],
  ["7 an equation times -1 (Math-Verify #2)", "-34x-45y+20z-100=0", "34x+45y-20z+100=0", true],
  ["8 inequality and interval (Math-Verify #25, #10)", r`m\ge\sqrt2`, r`m\in[\sqrt2,\infty)`, true],
  ["8 and the other way round", r`m\in[\sqrt2,\infty)`, r`m\ge\sqrt2`, true],
  ["9 linear equations (Math-Verify #26)", r`y=-\frac12x+\frac34`, "2x+4y-3=0", true],
  ["10 text that is a number (Math-Verify #37)", "13", r`\text{13}`, true],
  ["11 conics (Math-Verify #40)", r`\frac{x^2}{16}+\frac{y^2}{12}=1`, r`\frac{x^2}4+\frac{y^2}3=1`, false],
  ["12 a malformed root (Math-Verify #41)", r`4\sqrt(2)`, "4", false],
  ["14 part of a list (Math-Verify #47)", "1728", "1331 and 1728", false],
  ["16 equations that are both read as 0 (Math-Verify #60)", "3x+4y+14=0", "3x-y+13=0", false],
  ["18 radicals (Math-Verify #64)", r`\frac1{\sqrt n}`, r`\sqrt{1/n}`, true],
  ["19 a quantifier (Math-Verify #64)", r`\forall x>0, f(x)=0`, "f(x)=0", false],
  ["20 plain text (Math-Verify #69)", "-1 + exp(16)", "e^{16}-1", true],
  ["20 plain pi (Math-Verify #69)", "pi/2", r`\frac\pi2`, true],
  ["23 the same text (Math-Verify #56, #70, #74)", r`\dfrac97`, r`\dfrac97`, true],
  ["24 \\left( (Qwen2.5-Math #29)", r`(3,\frac\pi2)`, r`\left(3,\frac\pi2\right)`, true],
  ["25 quotation marks (evalscope #1537)", "'42'", "42", true],
  [
    "26 a sum of fractions (Online-DPO-R1 #11, DeepSeek-Coder #175)",
    r`\frac x7+\frac27`,
    r`\frac{x+2}7`,
    true,
  ],
  ["27 a decimal and a fraction (verl #295)", "0.5", r`\frac12`, true],
  ["32 a tuple that sympy cannot read (lm-eval #4030)", "(2,4)", "(2,4)", true],
  ["33 units deleted inside commands (lm-eval #4031, #4142)", r`(2,\infty)`, r`\left(2,\infty\right)`, true],
  ["34 order of a list (lm-eval PR #3785)", "5,3", "3,5", true],
  ["34 a base that is missing (lm-eval #3653)", "52", "52_8", true],
  ["36 a base read as digits (rasbt #133)", "52_8", "528", false],
  ["36 thousands read as a tuple (rasbt #133)", r`11,\!111`, "11111", true],
  ["37 \\div (MathRuler #2)", r`\pi\div8+1\div2`, r`0.5+\frac\pi8`, true],
  ["38 plain and LaTeX (inspect_ai #5259)", "n*(n+1)/2", r`\frac{n(n+1)}2`, true],
];

describe("reports against other graders", () => {
  it.each(faults)("%s: %s | %s", (_, prediction, reference, equal) => {
    expect(verify(prediction, reference).status === "equal").toBe(equal);
  });

  const responses: readonly Fault[] = [
    ["13 the same box twice (Math-Verify #44)", r`So \boxed{840}. Final: \boxed{840}`, "840", true],
    [
      "15 boxes far apart (Math-Verify #57)",
      r`\boxed{35 cm} and then much later the integer \boxed{4}`,
      "4",
      true,
    ],
    ["29 a long text after the box (verl #7440)", `\\boxed{55}${" and so on".repeat(200)}`, "55", true],
    ["35 other ways to set a formula (lm-eval #2552, #2539)", r`\[\boxed{42}\]`, "42", true],
    ["40 numbers that are only mentioned (PrimeIntellect verifiers #1028)", "I saw 31 and 32", "31", false],
    ["41 a box and a frame (slime #2357, #2150)", r`\boxed{5}`, "5", true],
    ["41 a frame", r`\fbox{5}`, "5", true],
  ];
  it.each(responses)("%s", (_, response, reference, equal) => {
    expect(verifyResponse(response, reference).status === "equal").toBe(equal);
  });

  it("17 towers of powers are answered at once (Math-Verify #63, #65; sympy #24187)", () => {
    const before = process.cpuUsage();
    expect(verify(r`5^{5^{5^{5^5}}}`, "5").status).not.toBe("equal");
    expect(process.cpuUsage(before).user).toBeLessThan(1_200_000);
  });

  it("21 renamed constants are not equal, by convention (Math-Verify #75)", () => {
    expect(verify(r`A+\frac Bx-x`, r`-x+C+\frac Dx`).status).toBe("different");
  });

  it("22 bold text is an answer only where one asks for phrases (Math-Verify #76)", () => {
    const response = "We add them up.\n\n**73**";
    expect(extractAnswer(response)).toBeUndefined();
    expect(extractAnswer(response, { fallback: "phrases" })).toBe("73");
    expect(verify("**73**", "73").status).toBe("equal");
  });

  it("28 code in an answer is text (verl #7603, CVE-2026-6878)", () => {
    const touched = globalThis as { touched?: boolean };
    for (const text of ["globalThis.touched=true", "open('marker','w').write('x')", "process.exit(1)"]) {
      for (const grader of Object.values(graders))
        expect(grader({ prediction: text, reference: "42" }).status).not.toBe("equal");
    }
    expect(touched.touched).toBeUndefined();
  });

  it.each<readonly [string, VerdictStatus]>([
    [r`\frac{63}{`, "badReference"],
    ["", "badReference"],
    [r`\frac{}{4}`, "badReference"],
  ])(
    "30 a reference that cannot be read (%s) pays nothing (open-r1 #215, #293)",
    async (reference, status) => {
      expect(verify("1", reference).status).toBe(status);
      const reward = createReward();
      const [found] = await reward.score([{ response: r`\boxed{1}`, reference }]);
      await reward.close();
      expect(found).toMatchObject({ value: Number.NaN, scorable: false });
    },
  );

  it("31 swapped arguments change nothing (open-r1 #557)", () => {
    expect(verify("[2,\\infty)", "x\\ge2").status).toBe(verify("x\\ge2", "[2,\\infty)").status);
  });

  it("39 one result per sample, in order, whatever the samples are (NeMo-RL #3058, #3635)", async () => {
    const verifier = createVerifier({ workers: 1 });
    const predictions = ["1", r`\frac{`, "", "\0", r`\sqrt{2}`, "2"];
    const verdicts = await verifier.verify(predictions.map((prediction) => ({ prediction, reference: "2" })));
    await verifier.close();
    expect(verdicts.map(({ status }) => status)).toEqual([
      "different",
      "unparsed",
      "noAnswer",
      "unparsed",
      "different",
      "equal",
    ]);
  });

  it("42 what hangs is stopped, and the next batch is answered (NeMo Gym #1354, OpenCompass #2478)", async () => {
    const verifier = createVerifier({ workers: 1, timeLimit: 1 });
    const hard = Array.from({ length: 3 }, () => ({
      prediction: r`\sum_{a=1}^{2000}\sum_{b=1}^{2000}\sin(ab)`,
      reference: r`\sqrt{2}`,
    }));
    expect((await verifier.verify(hard)).map(({ status }) => status)).toEqual([
      "timeout",
      "timeout",
      "timeout",
    ]);
    expect(await verifier.verify([{ prediction: "0.5", reference: r`\frac12` }])).toMatchObject([
      { status: "equal" },
    ]);
    await verifier.close();
  });

  it("43 the last phrase wins, and thinking is cut off (simple-evals #119, sglang-jax #1409)", () => {
    const phrases = { fallback: "phrases" } as const;
    expect(extractAnswer("Answer: 3\nNo.\nAnswer: 5", phrases)).toBe("5");
    expect(extractAnswer(r`<think>\boxed{3}</think> \boxed{5}`)).toBe("5");
    expect(extractAnswer(r`<think>\boxed{3}`)).toBeUndefined();
  });
});
