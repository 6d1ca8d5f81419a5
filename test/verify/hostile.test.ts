// Texts that are meant to hang, exhaust or break a grader.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createVerifier, type Pair, type Verifier, verify, verifyResponse } from "../../lib/verify/index.ts";

const many = (text: string, times: number): string => text.repeat(times);

/** Texts by name: each stands once as prediction and once as reference. */
const hostile: Readonly<Record<string, string>> = {
  "a number of a million digits": many("7", 1_000_000),
  "a number of 4000 digits": many("7", 4000),
  "a decimal of 4000 digits": `0.${many("3", 3990)}`,
  "an exponent of many digits": "1e999999999",
  "a negative exponent of many digits": "1e-999999999",
  "a tower of powers": "9^{9^{9^{9^{9}}}}",
  "a short tower": "10^{10^{10}}",
  "a power near the limit": "7^{30000}-7^{29999}",
  "a factorial of a factorial": "((100!)!)!",
  "a large factorial": "5000!",
  "a factorial past the limit": "99999999!",
  "a large binomial": "\\binom{99999}{49999}",
  "10,000 braces": many("{", 10_000),
  "2,000 nested braces": many("{", 2000) + many("}", 2000),
  "1,000 nested parentheses": `${many("(", 1000)}x${many(")", 1000)}`,
  "59 nested parentheses": `${many("(", 59)}x${many(")", 59)}`,
  "nested fractions": `${many("\\frac{1}{1+", 59)}x${many("}", 59)}`,
  "nested roots": `${many("\\sqrt{", 59)}x${many("}", 59)}`,
  "roots without braces": `${many("\\sqrt", 700)} 2`,
  "unclosed absolute values": many("|x", 1000),
  "a list of many elements": many("x^2+1,", 600),
  "many plus-minus": many("\\pm1", 400),
  "a chain of relations": many("x<", 1000),
  "a long sum": `${many("\\sin x+", 500)}1`,
  "sums within sums": "\\sum_{i=1}^{2000}\\sum_{j=1}^{2000}\\sum_{k=1}^{2000}\\sin(ijk)",
  "a sum with a huge limit": "\\sum_{k=1}^{10^{18}}\\frac{1}{k}",
  "blanks for a regular expression": `${many(" ", 3000)}x`,
  "letters for a regular expression": `${many("a", 4000)}!`,
  "digits and commas": many("1,", 2000),
  "groups of thousands": `1${many(",000", 900)}x`,
  NUL: "\0\0\0",
  "lone surrogates": "\ud800\udfff\ud800",
  "control characters": "\u0001\u001b[31m\u202e5",
  "combining characters": `5${many("\u0301", 2000)}`,
  JavaScript: "(function(){while(true);})()",
  "a constructor": "constructor.constructor('return process')().exit()",
  "a prototype": "__proto__",
  Python: "__import__('os').system('rm -rf /')",
  "a prototype as command": "\\__proto__ \\constructor{} \\toString",
  "an environment of a prototype": "\\begin{__proto__}1\\end{__proto__}",
  "a script": "<script>alert(1)</script>",
  "commands without end": many("\\frac", 800),
  "scripts without base": many("^_", 1500),
};

/** Milliseconds of this process, which other work on the machine does not lengthen. */
function spent(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe("hostile text", () => {
  it.each(Object.entries(hostile))("%s is answered in time on both sides", (_, text) => {
    verify("\\sqrt2", "x"); // loads the reader
    for (const [prediction, reference] of [
      [text, "5"],
      ["\\sqrt{2}x", text],
    ] as const) {
      let status = "";
      expect(
        spent(() => {
          status = verify(prediction, reference).status;
        }),
      ).toBeLessThan(1200);
      expect(status).not.toBe("equal");
    }
  });

  it.each([
    ["boxes that stay open", many("\\boxed{", 150_000)],
    ["braces in a box", `\\boxed{${many("{", 1_000_000)}`],
    ["nested boxes", many("\\boxed{", 100_000) + many("}", 100_000)],
    ["a megabyte of text", many("the value is 3. ", 65_536)],
    ["a megabyte of boxes", many("\\boxed{3} ", 104_858)],
    ["thinking that starts again and again", many("<think>", 150_000)],
    ["announcements", many("the answer is ", 75_000)],
    ["numbers", many("1,234,", 170_000)],
  ])("a response of a megabyte, %s, is answered in time", (_, response) => {
    for (const fallback of ["none", "phrases", "lastNumber"] as const) {
      expect(spent(() => verifyResponse(response, "5", { fallback }))).toBeLessThan(1200);
    }
  });

  it("says when a pair takes more work than it may", () => {
    const endless = "\\sum_{a=1}^{2000}\\sum_{b=1}^{2000}\\sin(ab)";
    expect(verify(endless, "\\sqrt{2}")).toMatchObject({ status: "timeout" });
  });

  it("is no number, array or missing value", () => {
    for (const value of [undefined, null, 5, [], {}, Symbol.iterator] as unknown as string[]) {
      expect(verify(value, "5").status).toBe("noAnswer");
      expect(verify("5", value).status).toBe("badReference");
      expect(verifyResponse(value, "5").status).toBe("noAnswer");
    }
  });

  describe("in a pool", () => {
    let verifier: Verifier;
    beforeAll(() => {
      verifier = createVerifier({ workers: 2 });
    });
    afterAll(() => verifier.close());

    it("leaves the pool healthy", async () => {
      const pairs: Pair[] = Object.values(hostile).map((text) => ({
        prediction: text,
        reference: "\\sqrt{3}",
      }));
      const verdicts = await verifier.verify(pairs);
      expect(verdicts).toHaveLength(pairs.length);
      expect(verdicts.filter(({ status }) => status === "equal")).toEqual([]);
      expect(await verifier.verify([{ prediction: "\\sqrt{12}", reference: "2\\sqrt3" }])).toMatchObject([
        { status: "equal" },
      ]);
    });
  });
});
