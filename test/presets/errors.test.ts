import { describe, expect, it } from "vitest";
import { presets } from "../../lib/index.ts";
import { errorCode } from "../support/compare.ts";
import { batchOf } from "./batch.ts";

const { pureVerl, pureOpenRlhf, verl, trl, openRlhf } = presets;
const { shape, values } = batchOf([1, 2, null], [3, null, null]);
const outcomes = { ...shape, tokenLevelRewards: values, index: ["a", "a"] };
const policy = { ...shape, logProbs: values, oldLogProbs: values, advantages: values };
const pair = { ...shape, logProbs: values, refLogProbs: values };
// For calls that TypeScript would refuse.
// biome-ignore lint/suspicious/noExplicitAny: stands for whatever plain JavaScript may pass
const wrong = (value: unknown): any => value;

describe("presets refuse", () => {
  it.each<[string, () => unknown, string]>([
    ["no batch", () => verl.computeRlooOutcomeAdvantage(wrong(null)), "ERR_ARGUMENT_TYPE"],
    ["zero rows", () => verl.computeRlooOutcomeAdvantage({ ...outcomes, rows: 0 }), "ERR_SHAPE"],
    ["zero width", () => verl.computeRlooOutcomeAdvantage({ ...outcomes, width: 0 }), "ERR_SHAPE"],
    [
      "a fractional width",
      () => verl.computeRlooOutcomeAdvantage({ ...outcomes, width: 1.5 }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "a mask of another length",
      () => verl.computeOpoOutcomeAdvantage({ ...outcomes, width: 4 }),
      "ERR_SHAPE",
    ],
    [
      "a mask of numbers",
      () => verl.computeRlooOutcomeAdvantage({ ...outcomes, responseMask: wrong([1, 1, 0, 1, 0, 0]) }),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "a mask value of 2",
      () => verl.computeRlooOutcomeAdvantage({ ...outcomes, responseMask: Uint8Array.of(1, 2, 0, 1, 0, 0) }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "plain arrays",
      () => verl.computeRlooOutcomeAdvantage({ ...outcomes, tokenLevelRewards: wrong([1, 2, 0, 3, 0, 0]) }),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "mixed dtypes",
      () => verl.computePolicyLossVanilla({ ...policy, advantages: wrong(Float32Array.from(values)) }),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "too few values",
      () => verl.computePolicyLossGspo({ ...policy, oldLogProbs: values.slice(1) }),
      "ERR_SHAPE",
    ],
    [
      "too few groups",
      () => pureVerl.computeRlooOutcomeAdvantage({ ...outcomes, index: ["a"] }),
      "ERR_SHAPE",
    ],
    [
      "groups that are no ids",
      () => verl.computeGpgOutcomeAdvantage({ ...outcomes, index: wrong([{}, 1]) }),
      "ERR_ARGUMENT_TYPE",
    ],
    ["an unknown loss", () => verl.getPolicyLossFn(wrong("ppo")), "ERR_ARGUMENT_VALUE"],
    [
      "an unknown aggregation",
      () => verl.aggLoss({ ...shape, lossMat: values }, { lossAggMode: wrong("mean") }),
      "ERR_ARGUMENT_VALUE",
    ],
    ["an unknown estimate", () => verl.klPenalty(pair, { klPenalty: "k4" }), "ERR_ARGUMENT_VALUE"],
    [
      "PURE's unknown estimate",
      () => pureVerl.klPenalty(pair, { klPenalty: wrong("k1") }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "a dual clip of 1",
      () => verl.computePolicyLossVanilla(policy, { clipRatioC: 1 }),
      "ERR_ARGUMENT_VALUE",
    ],
    ["a negative clip", () => openRlhf.policyLoss(policy, { clipEpsLow: -1 }), "ERR_ARGUMENT_VALUE"],
    [
      "a temperature of 0",
      () =>
        pureVerl.minForm(
          { ...shape, processRewards: values, stepEndMask: shape.responseMask },
          { temperature: 0 },
        ),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "an unknown return",
      () => pureVerl.computeRlooOutcomeAdvantage(outcomes, { returnAggregateMethod: wrong("max") }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "an unknown baseline",
      () =>
        pureOpenRlhf.processExperiences(
          {
            ...shape,
            processRewards: values,
            stepEndMask: shape.responseMask,
            solved: new Float64Array(2),
            index: [0, 0],
          },
          { rewardBaseline: wrong("mean") },
        ),
      "ERR_ARGUMENT_VALUE",
    ],
    ["no rewards", () => trl.grpoAdvantages({ rewards: new Float64Array(0), index: [] }), "ERR_SHAPE"],
    [
      "rewards that are no array",
      () => trl.rlooAdvantages({ rewards: wrong(3), index: [0] }),
      "ERR_ARGUMENT_TYPE",
    ],
    ["one advantage per token", () => trl.computeLoss(policy), "ERR_SHAPE"],
    [
      "an unknown loss type",
      () => trl.computeLoss(policy, { lossType: wrong("vespo") }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "an unknown estimator",
      () =>
        openRlhf.processExperiences(
          { ...shape, rewards: new Float64Array(2), index: [0, 0] },
          { advantageEstimator: wrong("gae") },
        ),
      "ERR_ARGUMENT_VALUE",
    ],
    ["gamma above 1", () => openRlhf.getCumulativeReturns(outcomes, { gamma: 2 }), "ERR_ARGUMENT_VALUE"],
  ])("%s", (_, call, code) => {
    expect(errorCode(call)).toBe(code);
  });
});
