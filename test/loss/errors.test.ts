import { describe, expect, it } from "vitest";
import {
  cispoLoss,
  entropyBonus,
  gmpoLoss,
  gspoLoss,
  importanceWeights,
  klPenalty,
  type PolicyBatch,
  ppoLoss,
  ragged,
  reinforceLoss,
  sapoLoss,
  valueLoss,
} from "../../lib/index.ts";
import { errorCode } from "../support/compare.ts";

const values = ragged([[-1, -2], [-3]]);
const batch: PolicyBatch<Float64Array> = { logProbs: values, oldLogProbs: values, advantages: values };
const single = ragged([[-1, -2], [-3]], "float32");
const otherRows = ragged([[-1], [-2, -3]]);
const withNaN = ragged([[-1, -2], [Number.NaN]]);
const rollout = { oldLogProbs: values, rolloutLogProbs: values };
const truncate = { correction: "truncate", level: "token", max: 2 } as const;
const detached = () => {
  const data = new Float64Array(3);
  structuredClone(data.buffer, { transfer: [data.buffer] });
  return { data, offsets: values.offsets };
};

describe("losses: bad input", () => {
  it.each([
    ["no batch", () => ppoLoss(undefined as never), "ERR_ARGUMENT_TYPE"],
    ["no log-probs", () => ppoLoss({ ...batch, logProbs: undefined as never }), "ERR_ARGUMENT_TYPE"],
    ["no old log-probs", () => ppoLoss({ ...batch, oldLogProbs: undefined as never }), "ERR_ARGUMENT_TYPE"],
    ["no advantages", () => ppoLoss({ ...batch, advantages: undefined as never }), "ERR_ARGUMENT_TYPE"],
    ["a plain array", () => ppoLoss({ ...batch, logProbs: [[1]] as never }), "ERR_ARGUMENT_TYPE"],
    ["integers", () => ppoLoss({ ...batch, logProbs: ragged([[1]], "int32") as never }), "ERR_ARGUMENT_TYPE"],
    ["mixed dtypes", () => ppoLoss({ ...batch, oldLogProbs: single as never }), "ERR_ARGUMENT_TYPE"],
    [
      "advantages of another dtype",
      () => ppoLoss({ ...batch, advantages: new Float32Array(2) as never }),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "weights of another dtype",
      () => ppoLoss({ ...batch, importanceWeights: single as never }),
      "ERR_ARGUMENT_TYPE",
    ],
    ["zero rows", () => ppoLoss({ ...batch, logProbs: ragged([]) }), "ERR_SHAPE"],
    ["old log-probs of other rows", () => ppoLoss({ ...batch, oldLogProbs: otherRows }), "ERR_SHAPE"],
    ["advantages of other rows", () => ppoLoss({ ...batch, advantages: otherRows }), "ERR_SHAPE"],
    [
      "three advantages for two responses",
      () => ppoLoss({ ...batch, advantages: new Float64Array(3) }),
      "ERR_SHAPE",
    ],
    ["weights of other rows", () => ppoLoss({ ...batch, importanceWeights: otherRows }), "ERR_SHAPE"],
    [
      "offsets that fall",
      () => ppoLoss({ ...batch, logProbs: { data: values.data, offsets: Int32Array.of(0, 4, 3) } }),
      "ERR_SHAPE",
    ],
    ["a short mask", () => ppoLoss({ ...batch, mask: new Uint8Array(2) }), "ERR_SHAPE"],
    ["a boolean mask", () => ppoLoss({ ...batch, mask: [true] as never }), "ERR_ARGUMENT_TYPE"],
    ["a short out", () => ppoLoss(batch, { out: new Float64Array(2) }), "ERR_SHAPE"],
    [
      "an out of another dtype",
      () => ppoLoss(batch, { out: new Float32Array(3) as never }),
      "ERR_ARGUMENT_TYPE",
    ],
    ["detached memory", () => ppoLoss({ ...batch, oldLogProbs: detached() }), "ERR_ARGUMENT_TYPE"],
    [
      "shared memory",
      () => ppoLoss({ ...batch, advantages: new Float64Array(new SharedArrayBuffer(16)) }),
      "ERR_ARGUMENT_TYPE",
    ],
    ["an unknown aggregation", () => ppoLoss(batch, { aggregation: "mean" as never }), "ERR_ARGUMENT_VALUE"],
    ["a negative denominator", () => ppoLoss(batch, { denominator: -1 }), "ERR_ARGUMENT_VALUE"],
    ["a NaN denominator", () => ppoLoss(batch, { denominator: Number.NaN }), "ERR_ARGUMENT_VALUE"],
    [
      "prompt-mean without prompts",
      () => ppoLoss(batch, { aggregation: "prompt-mean" }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "groups of another length",
      () => ppoLoss(batch, { aggregation: "prompt-mean", groups: ["a"] }),
      "ERR_SHAPE",
    ],
    [
      "promptTokens of another length",
      () => ppoLoss(batch, { aggregation: "prompt-mean", promptTokens: [3] }),
      "ERR_SHAPE",
    ],
    [
      "promptTokens that are none",
      () => ppoLoss(batch, { aggregation: "prompt-mean", promptTokens: 3 as never }),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "negative promptTokens",
      () => ppoLoss(batch, { aggregation: "prompt-mean", promptTokens: [2, -1] }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "fewer promptTokens than the response has",
      () => ppoLoss(batch, { aggregation: "prompt-mean", promptTokens: [2, 0] }),
      "ERR_ARGUMENT_VALUE",
    ],
    ["a clamp of 0", () => ppoLoss(batch, { logRatioClamp: 0 }), "ERR_ARGUMENT_VALUE"],
    ["a clamp past float32", () => ppoLoss(batch, { logRatioClamp: 90 }), "ERR_ARGUMENT_VALUE"],
    ["a negative clip", () => ppoLoss(batch, { clipRatio: -0.1 }), "ERR_ARGUMENT_VALUE"],
    ["a lower clip above 1", () => ppoLoss(batch, { clipRatioLow: 1.1 }), "ERR_ARGUMENT_VALUE"],
    ["a clip that is text", () => gspoLoss(batch, { clipRatioHigh: "0.2" as never }), "ERR_ARGUMENT_VALUE"],
    ["a NaN clip", () => gmpoLoss(batch, { clipRatioLow: Number.NaN }), "ERR_ARGUMENT_VALUE"],
    ["a dual clip of 1", () => ppoLoss(batch, { dualClip: 1 }), "ERR_ARGUMENT_VALUE"],
    ["a dual clip of 0", () => ppoLoss(batch, { dualClip: 0 }), "ERR_ARGUMENT_VALUE"],
    ["a maxRatio inside the clip", () => ppoLoss(batch, { maxRatio: 1.1 }), "ERR_ARGUMENT_VALUE"],
    ["a maxRatio of 0", () => ppoLoss(batch, { maxRatio: 0 }), "ERR_ARGUMENT_VALUE"],
    ["unknown bounds", () => cispoLoss(batch, { bounds: "relative" as never }), "ERR_ARGUMENT_VALUE"],
    [
      "absolute bounds without an upper one",
      () => cispoLoss(batch, { bounds: "absolute" } as never),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "absolute bounds that cross",
      () => cispoLoss(batch, { bounds: "absolute", clipRatioLow: 2, clipRatioHigh: 1 }),
      "ERR_ARGUMENT_VALUE",
    ],
    ["tau of 0", () => sapoLoss(batch, { tauPositive: 0 }), "ERR_ARGUMENT_VALUE"],
    ["tau past 80", () => sapoLoss(batch, { tauNegative: 100 }), "ERR_ARGUMENT_VALUE"],
    ["REINFORCE without advantages", () => reinforceLoss({ logProbs: values } as never), "ERR_ARGUMENT_TYPE"],
    ["KL without a reference", () => klPenalty({ logProbs: values } as never), "ERR_ARGUMENT_TYPE"],
    ["KL without a batch", () => klPenalty(null as never), "ERR_ARGUMENT_TYPE"],
    [
      "an unknown estimator",
      () => klPenalty({ logProbs: values, refLogProbs: values }, { estimator: "k4" as never }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "an unknown gradient",
      () => klPenalty({ logProbs: values, refLogProbs: values }, { gradient: "k3" as never }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "old log-probs of other rows, KL",
      () => klPenalty({ logProbs: values, refLogProbs: values, oldLogProbs: otherRows }),
      "ERR_SHAPE",
    ],
    [
      "a short valuesOut",
      () => klPenalty({ logProbs: values, refLogProbs: values }, { valuesOut: new Float64Array(1) }),
      "ERR_SHAPE",
    ],
    ["returns of other rows", () => valueLoss({ values, returns: otherRows }), "ERR_SHAPE"],
    [
      "clipRange without old values",
      () => valueLoss({ values, returns: values }, { clipRange: 0.2 }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "a negative clipRange",
      () => valueLoss({ values, oldValues: values, returns: values }, { clipRange: -1 }),
      "ERR_ARGUMENT_VALUE",
    ],
    ["no value batch", () => valueLoss(undefined as never), "ERR_ARGUMENT_TYPE"],
    ["no entropy", () => entropyBonus({} as never), "ERR_ARGUMENT_TYPE"],
    [
      "entropy with a short mask",
      () => entropyBonus({ entropy: values, mask: new Uint8Array(1) }),
      "ERR_SHAPE",
    ],
    ["weights without options", () => importanceWeights(rollout, undefined as never), "ERR_ARGUMENT_TYPE"],
    [
      "weights without max",
      () => importanceWeights(rollout, { ...truncate, max: undefined as never }),
      "ERR_ARGUMENT_VALUE",
    ],
    ["min above max", () => importanceWeights(rollout, { ...truncate, min: 3 }), "ERR_ARGUMENT_VALUE"],
    [
      "an unknown correction",
      () => importanceWeights(rollout, { ...truncate, correction: "clip" as never }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "an unknown level",
      () => importanceWeights(rollout, { ...truncate, level: "sequence" as never }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "normalising by 0",
      () => importanceWeights(rollout, { ...truncate, normalize: 0 }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "rollout log-probs of other rows",
      () => importanceWeights({ ...rollout, rolloutLogProbs: otherRows }, truncate),
      "ERR_SHAPE",
    ],
  ])("%s", (_, call, code) => {
    expect(errorCode(call)).toBe(code);
  });

  it("names the argument, row and position of a NaN that counts", () => {
    expect(() => ppoLoss({ ...batch, logProbs: withNaN })).toThrow(
      /^logProbs: expected a finite number at row 1, position 0, got NaN$/,
    );
    expect(() => gspoLoss({ ...batch, oldLogProbs: withNaN })).toThrow(/^oldLogProbs: .* row 1, position 0/);
    expect(() => gmpoLoss({ ...batch, advantages: withNaN })).toThrow(/^advantages: .* row 1, position 0/);
    expect(() => sapoLoss({ ...batch, importanceWeights: withNaN })).toThrow(
      /^importanceWeights: .* row 1, position 0/,
    );
    expect(() => reinforceLoss({ ...batch, logProbs: withNaN })).toThrow(/^logProbs: .* row 1, position 0/);
    expect(() => cispoLoss({ ...batch, advantages: Float64Array.of(1, Infinity) })).toThrow(
      /^advantages: expected a finite number at row 1, got Infinity$/,
    );
    expect(() => klPenalty({ logProbs: values, refLogProbs: withNaN })).toThrow(/^refLogProbs: /);
    expect(() =>
      klPenalty({ logProbs: values, refLogProbs: values, oldLogProbs: withNaN }, { gradient: "importance" }),
    ).toThrow(/^oldLogProbs: .* row 1, position 0/);
    expect(() => valueLoss({ values, returns: withNaN })).toThrow(/^returns: .* row 1, position 0/);
    expect(() => entropyBonus({ entropy: withNaN })).toThrow(/^entropy: .* row 1, position 0/);
    expect(() => importanceWeights({ ...rollout, rolloutLogProbs: withNaN }, truncate)).toThrow(
      /^rolloutLogProbs: .* row 1, position 0/,
    );
  });

  it("infinite values where only finite ones make sense are errors, infinite log-probs are not", () => {
    const infinite = ragged([[-1, Infinity], [-1]]);
    expect(errorCode(() => ppoLoss({ ...batch, advantages: infinite }))).toBe("ERR_NOT_FINITE");
    expect(errorCode(() => ppoLoss({ ...batch, importanceWeights: infinite }))).toBe("ERR_NOT_FINITE");
    expect(errorCode(() => valueLoss({ values: infinite, returns: values }))).toBe("ERR_NOT_FINITE");
    expect(errorCode(() => entropyBonus({ entropy: infinite }))).toBe("ERR_NOT_FINITE");
    expect(errorCode(() => ppoLoss({ ...batch, oldLogProbs: infinite }))).toBeUndefined();
  });

  it("finds a NaN past the first block, behind a mask with holes", () => {
    const long = ragged([Array.from({ length: 40 }, () => 0), Array.from({ length: 2000 }, () => 0)]);
    const logProbs = { data: long.data.slice(), offsets: long.offsets };
    logProbs.data[40 + 1999] = Number.NaN;
    const mask = Uint8Array.from({ length: 2040 }, (_, i) => Number(i % 5 !== 0));
    for (const loss of [ppoLoss, gspoLoss, reinforceLoss]) {
      const input = { logProbs, oldLogProbs: long, advantages: long };
      expect(() => loss(input)).toThrow(/row 1, position 1999/);
      expect(() => loss({ ...input, mask })).toThrow(/row 1, position 1999/);
      mask[2039] = 0;
      expect(() => loss({ ...input, mask })).not.toThrow();
      mask[2039] = 1;
    }
  });

  it("inputs are not written to, and out is the result", () => {
    const [data, out] = [values.data.slice(), new Float64Array(3)];
    const result = ppoLoss(batch, { out });
    expect(result.gradLogProbs.data).toBe(out);
    expect([...values.data]).toEqual([...data]);
  });
});
