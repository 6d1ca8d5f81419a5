// Golden values of OpenRLHF's arithmetic, and that the quirks are there.
import { describe, expect, it } from "vitest";
import { presets } from "../../lib/index.ts";
import { expectClose } from "../support/compare.ts";
import { batchOf, column, ratios } from "./batch.ts";

const { openRlhf } = presets;

describe("openRlhf advantages", () => {
  const group = { ...column(1, 1, 1, 1).shape, rewards: Float64Array.of(1, 0, 0, 1), index: [0, 0, 0, 0] };
  const signs = [1, -1, -1, 1];

  it("one group [1, 0, 0, 1]", () => {
    const rewards = (
      advantageEstimator: Parameters<typeof openRlhf.processExperiences>[1]["advantageEstimator"],
    ) => openRlhf.processExperiences(group, { advantageEstimator });
    expectClose(
      rewards("rloo"),
      signs.map((x) => (x * 2) / 3),
    );
    expectClose(
      rewards("reinforce_baseline"),
      signs.map((x) => x / 2),
    );
    expectClose(
      rewards("dr_grpo"),
      signs.map((x) => x / 2),
    );
    expectClose(
      rewards("group_norm"),
      signs.map((x) => (x * Math.sqrt(3)) / 2),
      1e-8,
    );
  });

  it("group_norm turns eight equal float32 rewards of 0.2 into -0.880", () => {
    const batch = {
      ...column(1, 1, 1, 1, 1, 1, 1, 1).shape,
      rewards: new Float32Array(8).fill(0.2),
      index: new Array(8).fill(0),
    };
    const advantages = openRlhf.processExperiences(batch, { advantageEstimator: "group_norm" });
    expectClose(advantages, new Array(8).fill(-0.88), 5e-4);
  });

  it("a group of one is NaN", () => {
    const alone = { ...column(1).shape, rewards: Float64Array.of(0.7), index: ["a"] };
    for (const advantageEstimator of ["rloo", "group_norm"] as const) {
      expect(openRlhf.processExperiences(alone, { advantageEstimator })[0]).toBeNaN();
    }
  });

  it("GAE over a hole: the hole is a state of value 0", () => {
    const { shape } = batchOf([1, null, 1, 1]);
    const values = Float64Array.of(0.5, 9, 0.25, 0.1);
    const batch = { ...shape, tokenLevelRewards: Float64Array.of(0, 9, 0, 1), values };
    const { advantages } = openRlhf.getAdvantagesAndReturns(batch, { gamma: 0.9, lambd: 0.8 });
    expectClose([advantages[0]!], [-0.085021], 1e-5);
  });

  it("rewards: KL per token, the score at the last token", () => {
    const { shape } = batchOf([1, 1, null], [1, 1, 1]);
    const kl = Float64Array.of(0.1, 0.2, 0, 0, -0.1, 0.3);
    const batch = { ...shape, rewards: Float64Array.of(20, -1), kl };
    const rewards = openRlhf.computeReward(batch, { klCoef: 0.5, rewardClipRange: [-10, 10] });
    expectClose(rewards, [-0.05, 9.9, 0, 0, 0.05, -1.15]);
    const returns = openRlhf.getCumulativeReturns({ ...shape, tokenLevelRewards: rewards }, { gamma: 1 });
    expectClose(returns, [9.85, 9.9, 0, -1.1, -1.1, -1.15]);
  });

  it("whitening with ddof 0", () => {
    const { shape } = batchOf([1, 1, null]);
    const whitened = openRlhf.normalizeAdvantages({ ...shape, advantages: Float64Array.of(1, 2, 3) });
    expectClose(whitened, [-1, 1, 3]);
  });
});

describe("openRlhf losses", () => {
  it("PPO clip, the dual clip only when asked for", () => {
    const batch = ratios([10, -1], [1.3, 1]);
    expectClose([openRlhf.policyLoss(batch).loss], [(10 - 1.2) / 2]);
    expectClose([openRlhf.policyLoss(batch, { dualClip: 3 }).loss], [(3 - 1.2) / 2]);
    expectClose(openRlhf.policyLoss(batch).gradLogProbs, [5, 0]);
  });

  it("token mean or mean over rows that have tokens", () => {
    const { shape } = batchOf([1, 1, 1, 1], [1, null, null, null], [null, null, null, null]);
    const zeros = new Float64Array(12);
    const advantages = Float64Array.of(-1, -1, -1, -1, -3, 0, 0, 0, 0, 0, 0, 0);
    const batch = { ...shape, logProbs: zeros, oldLogProbs: zeros, advantages };
    expectClose([openRlhf.policyLoss(batch).loss], [1.4]);
    expectClose([openRlhf.policyLoss(batch, { tokenLevelLoss: false }).loss], [2]);
  });

  it("masks multiply: NaN in the padding poisons the loss", () => {
    const { shape } = batchOf([1, null]);
    const batch = {
      ...shape,
      logProbs: new Float64Array(2),
      oldLogProbs: Float64Array.of(0, Number.NaN),
      advantages: Float64Array.of(1, 1),
    };
    expect(openRlhf.policyLoss(batch).loss).toBeNaN();
  });

  it("GSPO has no clamp", () => {
    const { shape } = batchOf([1, 1]);
    const sequence = (logProbs: number[], advantage: number) =>
      openRlhf.policyLoss(
        {
          ...shape,
          logProbs: Float64Array.from(logProbs),
          oldLogProbs: new Float64Array(2),
          advantages: new Float64Array(2).fill(advantage),
        },
        { policyLossType: "gspo" },
      );
    expectClose([sequence([100, -100], 1).loss], [-1]);
    expect(sequence([1000, 1000], -1).loss).toBe(Number.POSITIVE_INFINITY);
  });

  it("KL estimates are clamped to +-10: dead beyond, NaN where exp overflows", () => {
    const { shape } = batchOf([1, 1, 1, 1]);
    const batch = {
      ...shape,
      logProbs: Float64Array.of(0.5, 5, -3, -1000),
      refLogProbs: new Float64Array(4),
    };
    const kl = (klEstimator: "k1" | "k2" | "k3") => openRlhf.computeApproxKl(batch, { klEstimator });
    expectClose(kl("k1").values, [0.5, 5, -3, -10]);
    expectClose(kl("k2").values, [0.125, 10, 4.5, 10]);
    expectClose(kl("k2").gradLogProbs, [0.5, 0, -3, 0]);
    expectClose(kl("k3").values, [0.106531, 4.006738, 10, 10], 1e-6);
    expectClose(kl("k3").gradLogProbs, [0.393469, 0.993262, 0, Number.NaN], 1e-6);
    const single = {
      ...column(1).shape,
      logProbs: Float32Array.of(-100),
      refLogProbs: Float32Array.of(0),
    };
    expect(openRlhf.computeApproxKl(single, { klEstimator: "k3" }).gradLogProbs[0]).toBeNaN();
  });

  it("value loss: an exact tie splits the gradient; without a range it is the plain one", () => {
    const { shape } = column(1);
    const batch = {
      ...shape,
      vpreds: Float64Array.of(1),
      values: Float64Array.of(0),
      returns: Float64Array.of(0.75),
    };
    const clipped = openRlhf.valueLoss(batch, { clipEps: 0.5 });
    expectClose([clipped.loss, clipped.gradValues[0]!], [0.03125, 0.125]);
    expectClose([...openRlhf.valueLoss(batch).gradValues], [0.25]);
  });
});
