import { describe, expect, it } from "vitest";
import { createVerifier, verifierGrader, verify, verifyResponse } from "../../lib/verify/index.ts";

const significant = { decimals: "significant" } as const;
const status = (prediction: string, reference: string): string =>
  verify(prediction, reference, significant).status;

describe("decimals: significant", () => {
  it.each([
    ["2.449", "2.45"],
    ["2.445", "2.45"],
    ["2.455", "2.45"],
    ["\\sqrt{6}", "2.45"],
    ["-0.3333", "-0.33"],
    ["\\frac{1}{3}", "0.33"],
    ["4.53e33", "4.5e33"],
    ["4.53\\times 10^{33}", "4.5e33"],
    ["4.5\\cdot 10^{33}", "4.5e33"],
    ["6.8\\times 10^{37}", "7 \\times 10^{37}"],
    ["1.6726\\times10^{-27}", "1.67e-27"],
    ["0.04", "0.0"],
    ["x = 2.449", "2.45"],
    ["2.449", "x = 2.45"],
    ["152\\text{ cm}", "1.5\\text{ m}"],
    ["12.46\\%", "12.5\\%"],
    ["0.1246", "12.5\\%"],
    ["(1.234, 5)", "(1.23, 5)"],
    ["2.449, 1", "1, 2.45"],
    ["1,234.56", "1234.6"],
  ])("%s rounds to %s", (prediction, reference) => {
    expect(status(prediction, reference)).toBe("equal");
    expect(verify(prediction, reference).status === "equal").toBe(
      prediction === "4.5\\cdot 10^{33}", // the one pair that is exact
    );
  });

  it.each([
    ["2.45", "2.449"],
    ["2.456", "2.45"],
    ["2.4", "2.45"],
    ["2.5", "2.45"],
    ["\\sqrt{5}", "2.45"],
    ["2.45x", "2.45"],
    ["4.56e33", "4.5e33"],
    ["4.5e32", "4.5e33"],
    ["7.6\\times 10^{37}", "7 \\times 10^{37}"],
    ["505.7", "506"],
    ["5.2", "5"],
    ["0.3333", "\\frac{1}{3}"],
    ["1.4142", "\\sqrt{2}"],
    ["0.667", "0.\\overline{6}"],
    ["156\\text{ cm}", "1.5\\text{ m}"],
    ["1.5\\text{ cm}", "1.5\\text{ m}"],
    ["12.6\\%", "12.5\\%"],
    ["(1.24, 5)", "(1.23, 5)"],
    ["0.06", "0.0"],
  ])("%s does not round to %s", (prediction, reference) => {
    expect(status(prediction, reference)).toBe("different");
  });

  it("holds for responses, in batches and in threads", async () => {
    expect(verifyResponse("\\boxed{2.449}", "2.45", significant).status).toBe("equal");
    const verifier = createVerifier({ ...significant, workers: 1 });
    const verdicts = await verifier.verify([
      { response: "\\boxed{\\sqrt6}", reference: "2.45" },
      { prediction: "2.46", reference: "2.45" },
    ]);
    expect(verdicts.map((verdict) => verdict.status)).toEqual(["equal", "different"]);
    await verifier.close();
    expect(() => createVerifier({ decimals: "some" as "exact" })).toThrow(/decimals/);
  });

  it("is the rule of verifierGrader where units are kept, unless decimals are exact; votes are exact", async () => {
    const item = { response: "\\boxed{2.449}", reference: "2.45" };
    const items = [
      { ...item, units: "kept" },
      { ...item, units: "dropped" },
    ] as const;
    const statuses = async (options: Parameters<typeof verifierGrader>[0]): Promise<string[]> => {
      await using grader = verifierGrader({ workers: 1, ...options });
      expect(await grader.same("2.449", "2.45", "kept")).toBe(false);
      return (await grader.grade(items, {})).map((verdict) => verdict.status);
    };
    expect(await statuses({})).toEqual(["equal", "different"]);
    expect(await statuses({ decimals: "exact" })).toEqual(["different", "different"]);
    expect(await statuses(significant)).toEqual(["equal", "equal"]);
  });
});
