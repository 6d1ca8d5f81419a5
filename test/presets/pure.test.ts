// Golden values of PURE's two branches, and that the quirks are there.
import { describe, expect, it } from "vitest";
import { minForm, presets, ragged } from "../../lib/index.ts";
import { expectClose } from "../support/compare.ts";
import { batchOf, processRewards, ratios } from "./batch.ts";

const { pureVerl, pureOpenRlhf } = presets;
const NaNs = (count: number) => new Array<number>(count).fill(Number.NaN);

describe("pureVerl", () => {
  it("min-form over step ends; a response without a step becomes NaN", () => {
    const { shape, rewards, stepEndMask } = processRewards(
      6,
      { length: 6, rewards: { 0: 0.9, 2: -0.2, 5: 0.5 } },
      { length: 2, rewards: {} },
    );
    const credit = pureVerl.minForm({ ...shape, processRewards: rewards, stepEndMask });
    const family = minForm(ragged([[0.9, -0.2, 0.5]]));
    const [a, b, c] = family.rewards.data;
    expectClose(credit.tokenRewards, [a!, 0, b!, 0, 0, c!, ...NaNs(6)]);
    expectClose(credit.weights.subarray(6), NaNs(6));
  });

  it("suffix minimum over tokens: positive rewards vanish, all of them once there is padding", () => {
    const G = (width: number, first: number) => {
      const { shape, rewards } = processRewards(width, { length: 6, rewards: { 2: first, 5: 0.8 } });
      const two = { rows: 2, width, responseMask: new Uint8Array(2 * width) };
      two.responseMask.set(shape.responseMask);
      const tokenLevelRewards = new Float64Array(2 * width);
      tokenLevelRewards.set(rewards);
      const batch = { ...two, tokenLevelRewards, index: ["a", "a"] };
      return pureVerl
        .computeRlooOutcomeAdvantage(batch, { returnAggregateMethod: "min" })
        .returns.subarray(0, 6);
    };
    expectClose(G(6, 0.5), [0, 0, 0, 0, 0, 0.8]);
    expectClose(G(8, 0.5), [0, 0, 0, 0, 0, 0]);
    expectClose(G(6, -0.5), [-0.5, -0.5, -0.5, 0, 0, 0.8]);
    expectClose(G(8, -0.5), [-0.5, -0.5, -0.5, 0, 0, 0]);
  });

  it("the baseline divides by the padded width", () => {
    const { shape, rewards } = processRewards(
      8,
      { length: 4, rewards: { 1: 0.4, 3: 0.2 } },
      { length: 4, rewards: { 3: -0.3 } },
    );
    const { advantages } = pureVerl.computeRlooOutcomeAdvantage({
      ...shape,
      tokenLevelRewards: rewards,
      index: [1, 1],
    });
    expectClose(advantages, [0.75, 0.75, 0.35, 0.35, 0, 0, 0, 0, -0.5, -0.5, -0.5, -0.5, 0, 0, 0, 0]);
  });

  it("equal verifiable rewards: the longer of two solved responses is favoured", () => {
    const { shape } = processRewards(6, { length: 6, rewards: {} }, { length: 4, rewards: {} });
    const tokenLevelRewards = pureVerl.addVerifiableReward({
      ...shape,
      tokenLevelRewards: new Float64Array(12),
      verifiableRewards: Float64Array.of(1, 1),
    });
    const { advantages } = pureVerl.computeRlooOutcomeAdvantage({
      ...shape,
      tokenLevelRewards,
      index: [7, 7],
    });
    expectClose(advantages, [1, 1, 1, 1, 1, 1].map((x) => x / 3).concat([0, 0, 0, 0, 0, 0]));
  });

  it("a group of one is NaN", () => {
    const { shape, rewards } = processRewards(3, { length: 3, rewards: { 2: 1 } });
    const { advantages } = pureVerl.computeRlooOutcomeAdvantage({
      ...shape,
      tokenLevelRewards: rewards,
      index: [0],
    });
    expectClose(advantages, NaNs(3));
  });

  it("the reward of an empty response lands on its last padding slot", () => {
    const { shape } = processRewards(3, { length: 0, rewards: {} });
    const verifiableRewards = Float64Array.of(1);
    const batch = { ...shape, tokenLevelRewards: new Float64Array(3), verifiableRewards };
    expectClose(pureVerl.addVerifiableReward(batch, { coefficient: 0.5 }), [0, 0, 0.5]);
  });

  it("policy loss: no dual clip, no clamp", () => {
    const { loss, gradLogProbs } = pureVerl.computePolicyLoss(ratios([10, -1], [1.3, 1]));
    expectClose([loss], [(10 - 1.2) / (2 + 1e-8)]);
    expectClose(gradLogProbs, [10 / (2 + 1e-8), 0]);
  });

  it("low_var_kl: clamped value, no gradient beyond, NaN where exp overflows", () => {
    const { shape } = batchOf([1, 1, 1]);
    const batch = { ...shape, logProbs: Float64Array.of(-0.5, -3, -1000), refLogProbs: new Float64Array(3) };
    const { values, gradLogProbs } = pureVerl.klPenalty(batch, { klPenalty: "low_var_kl" });
    expectClose(values, [0.148721, 10, 10], 1e-6);
    expectClose(gradLogProbs, [-0.648721, 0, Number.NaN], 1e-6);
  });
});

describe("pureOpenRlhf", () => {
  const pair = processRewards(
    6,
    { length: 6, rewards: { 2: 0.4, 5: 0.2 } },
    { length: 4, rewards: { 3: -0.3 } },
  );
  const batch = {
    ...pair.shape,
    processRewards: pair.rewards,
    stepEndMask: pair.stepEndMask,
    solved: Float64Array.of(1, 0),
    index: ["p", "p"],
  };
  const rewards = (options: Parameters<typeof pureOpenRlhf.processExperiences>[1]) =>
    pureOpenRlhf.processExperiences(batch, options);

  it("step and token baselines", () => {
    const step = rewards({ rewardMode: "PRM", rewardBaseline: "step" });
    expectClose(step, [0, 0, 0.7, 0, 0, 0.5, 0, 0, 0, -0.6, 0, 0]);
    const token = rewards({ rewardMode: "PRM", rewardBaseline: "token" });
    expectClose(token, [0, 0, 0.55, 0, 0, 0.35, 0, 0, 0, -0.6, 0, 0]);
  });

  it("the verifiable reward has its own baseline; returns are 0 at separators", () => {
    const tokenLevelRewards = rewards({ rewardMode: "PRMVR", rewardBaseline: "token" });
    const none = new Uint8Array(12);
    const all = pureOpenRlhf.getAdvantagesAndReturns({ ...batch, tokenLevelRewards, stepEndMask: none });
    expectClose(all.returns, [1.9, 1.9, 1.9, 1.35, 1.35, 1.35, -1.6, -1.6, -1.6, -1.6, 0, 0]);
    const { advantages } = pureOpenRlhf.getAdvantagesAndReturns({ ...batch, tokenLevelRewards });
    expectClose(advantages, [1.9, 1.9, 0, 1.35, 1.35, 0, -1.6, -1.6, -1.6, 0, 0, 0]);
    expectClose(rewards({ rewardMode: "VR" }), [0, 0, 0, 0, 0, 1, 0, 0, 0, -1, 0, 0]);
  });

  it("the step baseline favours few steps, the token baseline leaves a residue", () => {
    const {
      shape,
      rewards: process,
      stepEndMask,
    } = processRewards(6, { length: 6, rewards: { 5: 0.4 } }, { length: 6, rewards: { 2: 0.2, 5: 0.2 } });
    const initial = (rewardBaseline: "step" | "token") => {
      const solved = new Float64Array(2);
      const input = { ...shape, processRewards: process, stepEndMask, solved, index: [0, 0] };
      const tokenLevelRewards = pureOpenRlhf.processExperiences(input, { rewardMode: "PRM", rewardBaseline });
      const none = { ...shape, tokenLevelRewards, stepEndMask: new Uint8Array(12) };
      const { returns } = pureOpenRlhf.getAdvantagesAndReturns(none);
      return [returns[0]!, returns[6]!];
    };
    expectClose(initial("step"), [0.2, -0.4]);
    expectClose(initial("token"), [0.0667, 0.1333], 1e-4);
  });

  it("an empty response keeps its reward and drives its sibling down", () => {
    const {
      shape,
      rewards: process,
      stepEndMask,
    } = processRewards(6, { length: 1, rewards: { 0: 0.8 } }, { length: 6, rewards: { 2: 0.4, 5: 0.2 } });
    const input = {
      ...shape,
      processRewards: process,
      stepEndMask,
      solved: new Float64Array(2),
      index: [0, 0],
    };
    const tokenLevelRewards = pureOpenRlhf.processExperiences(input, {
      rewardMode: "PRM",
      rewardBaseline: "token",
    });
    const none = { ...shape, tokenLevelRewards, stepEndMask: new Uint8Array(12) };
    const { returns } = pureOpenRlhf.getAdvantagesAndReturns(none);
    expectClose(returns, [0.8, 0, 0, 0, 0, 0, -2.6, -2.6, -2.6, -1.4, -1.4, -1.4]);
  });

  it.each(["step", "token"] as const)("a group of one is NaN (%s)", (rewardBaseline) => {
    const alone = { ...batch, index: ["p", "q"] };
    const result = pureOpenRlhf.processExperiences(alone, { rewardMode: "PRM", rewardBaseline });
    expect(result[2]).toBeNaN();
    expect(result[9]).toBeNaN();
  });
});
