import { describe, expect, it } from "vitest";
import { compareScores, createPrm, type Prm } from "../../lib/prm/index.ts";
import { rejection } from "../support/errors.ts";
import { fakeRunner } from "../support/runner.ts";
import { toyTokenizer } from "../support/toy-tokenizer.ts";

const tokenizer = toyTokenizer();
const convention = {
  name: "value-like",
  head: "value",
  input: { form: "plain", prompt: "{question}", tokenise: "parts", separator: { text: "\n" } },
  read: "at",
  score: { transform: "identity" },
  range: "unbounded",
  aggregate: "mean",
  threshold: 0,
} as const;
// The logit is the number of ids seen, and `shift` of it.
const make = (shift: (seen: number) => number, options = {}, maxLength = 4096): Prm =>
  createPrm(
    {
      model: "toy",
      convention: { ...convention, ...options },
      tokenizer,
      runner: fakeRunner({ outputs: 1, maxLength, logits: ({ length }) => [length + shift(length)] }),
    },
    { overlong: "flag" },
  );
const items = [
  { question: "q", steps: ["a", "b"] },
  { question: "q", steps: ["c"] },
];

describe("compareScores", () => {
  it("mean and largest difference over the steps, in units of the score", async () => {
    // Reads at 3 and 5 ids, and at 3.
    const difference = await compareScores(
      make((seen) => (seen === 3 ? -0.25 : 1)),
      make(() => 0),
      items,
    );
    expect(difference).toEqual({ steps: 3, max: 1, mean: 0.5 });
  });

  it("leaves out steps that one of the two did not score", async () => {
    const difference = await compareScores(
      make(() => 0.5),
      make(() => 0, {}, 4),
      items,
    );
    expect(difference).toEqual({ steps: 2, max: 0.5, mean: 0.5 });
  });

  it("refuses two conventions, and no items", async () => {
    const [prm, other] = [make(() => 0), make(() => 0, { name: "other" })];
    expect(await rejection(() => compareScores(prm, other, items))).toMatchObject({
      code: "ERR_ARGUMENT_VALUE",
      message: expect.stringMatching(/expected the convention value-like, got other/),
    });
    expect((await rejection(() => compareScores(prm, prm, []))).code).toBe("ERR_SHAPE");
  });
});
