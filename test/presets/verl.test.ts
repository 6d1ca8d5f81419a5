// Golden values of verl's functions, and that the quirks are there.
import { describe, expect, it } from "vitest";
import { presets } from "../../lib/index.ts";
import { errorCode, expectClose } from "../support/compare.ts";
import { batchOf, column, ratios } from "./batch.ts";

const { verl } = presets;

function scores(values: ArrayLike<number>, index: (string | number)[]) {
  const tokenLevelRewards = Float64Array.from(values);
  return {
    rows: values.length,
    width: 1,
    responseMask: new Uint8Array(values.length).fill(1),
    tokenLevelRewards,
    index,
  };
}
const group = [0, 0, 0, 0];

describe("verl advantages", () => {
  it("one group [1, 0, 0, 1]", () => {
    const batch = scores([1, 0, 0, 1], group);
    expectClose(
      verl.computeGrpoOutcomeAdvantage(batch).advantages,
      [1, -1, -1, 1].map((x) => x * 0.866024),
      1e-6,
    );
    expectClose(
      verl.computeRlooOutcomeAdvantage(batch).advantages,
      [1, -1, -1, 1].map((x) => (x * 2) / 3),
    );
    expectClose(verl.computeGrpoPasskOutcomeAdvantage(batch).advantages, [0, 0, 0, 0]);
  });

  it("a group of one keeps its score, or gets 0, by estimator", () => {
    const batch = scores([0.7, 0, 0], ["a", "b", "b"]);
    expect(verl.computeGrpoOutcomeAdvantage(batch).advantages[0]).toBeCloseTo(0.7 / (1 + 1e-6), 12);
    expect(verl.computeRlooOutcomeAdvantage(batch).advantages[0]).toBe(0.7);
    expect(verl.computeOpoOutcomeAdvantage(batch).advantages[0]).toBe(0.7);
    expect(verl.computeRlooVectorizedOutcomeAdvantage(batch).advantages[0]).toBe(0);
    expect(errorCode(() => verl.computeGrpoPasskOutcomeAdvantage(batch))).toBe("ERR_ARGUMENT_VALUE");
    expect(verl.computeGpgOutcomeAdvantage(scores([0.7, 1, 0], ["a", "b", "b"])).advantages[0]).toBeCloseTo(
      1.05,
      12,
    );
  });

  it("eight equal float32 rewards of 0.2 move the whole group one way", () => {
    const batch = { ...scores(new Array(8).fill(0.2), new Array(8).fill(0)) };
    const single = { ...batch, tokenLevelRewards: Float32Array.from(batch.tokenLevelRewards) };
    expectClose(verl.computeGrpoOutcomeAdvantage(single).advantages, new Array(8).fill(-0.0147), 1e-4);
  });

  it("pass@k: only the best, by its lead over the second", () => {
    const lead = verl.computeGrpoPasskOutcomeAdvantage(scores([0, 1, 0.4, 0], group), {
      normAdvByStdInGrpo: false,
    });
    expectClose(lead.advantages, [0, 0.6, 0, 0]);
  });

  it("OPO weights by length, and is NaN in a group without tokens", () => {
    const { shape } = batchOf([1, 1, null, null], [1, 1, 1, 1]);
    const tokenLevelRewards = Float64Array.of(0, 1, 0, 0, 0, 0, 0, 0);
    const { advantages } = verl.computeOpoOutcomeAdvantage({ ...shape, tokenLevelRewards, index: [0, 0] });
    expectClose(advantages, [2 / 3, 2 / 3, 0, 0, -1 / 3, -1 / 3, -1 / 3, -1 / 3]);
    const empty = { ...shape, responseMask: new Uint8Array(8), tokenLevelRewards, index: [0, 0] };
    expect(verl.computeOpoOutcomeAdvantage(empty).advantages[0]).toBeNaN();
  });

  it("GPG's factor depends on how rewards are coded", () => {
    const factor = (values: number[]) => {
      const { advantages } = verl.computeGpgOutcomeAdvantage(scores(values, group));
      return advantages[0]! - advantages[1]!;
    };
    expect(factor([1, 0, 0, 0])).toBeCloseTo(4, 12);
    expect(factor([0, -1, -1, -1])).toBeCloseTo(4 / 3, 12);
  });

  it("scores are sums over the padded width: junk in the padding counts", () => {
    const { shape } = batchOf([1, null], [1, null]);
    const batch = { ...shape, tokenLevelRewards: Float64Array.of(1, 5, 0, 0), index: [0, 0] };
    expectClose(verl.computeRlooOutcomeAdvantage(batch).advantages, [6, 0, -6, -0]);
  });

  it("REINFORCE++ drops the reward across a hole", () => {
    const { shape } = batchOf([1, null, 1]);
    const batch = { ...shape, tokenLevelRewards: Float64Array.of(0, 0, 1) };
    const { returns } = verl.computeReinforcePlusPlusOutcomeAdvantage(batch, { gamma: 0.5 });
    expectClose(returns, [0, 0.5, 1]);
  });

  it("GAE carries over a hole", () => {
    const { shape } = batchOf([1, null, 1, 1]);
    const batch = {
      ...shape,
      tokenLevelRewards: Float64Array.of(0, 0, 0, 1),
      values: Float64Array.of(0.5, 9, 0.25, 0.1),
    };
    const { returns } = verl.computeGaeAdvantageReturn(batch, { gamma: 0.9, lam: 0.8 });
    expectClose([returns[0]!, returns[2]!, returns[3]!], [0.57636, 0.738, 1.0], 1e-5);
  });

  it("whitening leaves values outside the mask and refuses a single token", () => {
    const { shape } = batchOf([1, 1, null]);
    expectClose(
      verl.maskedWhiten({ ...shape, values: Float64Array.of(1, 2, 3) }),
      [-Math.SQRT1_2, Math.SQRT1_2, 3 * Math.SQRT1_2],
      1e-5,
    );
    const alone = batchOf([1, null]).shape;
    expect(errorCode(() => verl.maskedWhiten({ ...alone, values: Float64Array.of(1, 2) }))).toBe(
      "ERR_NOT_FINITE",
    );
  });
});

describe("verl losses", () => {
  const bounds = { clipRatioLow: 0.2, clipRatioHigh: 0.28 };

  it.each([
    [0.5, 1, -0.5, -0.5],
    [0.5, -1, 0.8, 0],
    [1, 1, -1, -1],
    [1, -1, 1, 1],
    [1.3, 1, -1.28, 0],
    [1.3, -1, 1.3, 1.3],
    [10, 1, -1.28, 0],
    [10, -1, 3, 0],
    [10, 0, 0, 0],
  ])("vanilla: ratio %s, A %s: loss %s, gradient %s", (ratio, advantage, loss, gradient) => {
    const result = verl.computePolicyLossVanilla(ratios([ratio, advantage]), bounds);
    expectClose([result.loss, result.gradLogProbs[0]!], [loss, gradient]);
  });

  it("vanilla: at a ratio of exactly c half the gradient passes; at the upper bound all of it", () => {
    const twice = ratios([1, -1]);
    twice.logProbs[0] = Math.LN2; // exp gives exactly 2
    expect(verl.computePolicyLossVanilla(twice, { clipRatioC: 2 }).gradLogProbs[0]).toBe(1);
    expect(verl.computePolicyLossVanilla(ratios([1, 1]), { clipRatioHigh: 0 }).gradLogProbs[0]).toBe(-1);
  });

  it("log-ratios of +-1000 stay finite", () => {
    const batch = ratios([1, -1], [1, 1]);
    batch.logProbs.set([1000, -1000]);
    const { loss, gradLogProbs } = verl.computePolicyLossVanilla(batch);
    expectClose([loss, ...gradLogProbs], [(3 - Math.exp(-20)) / 2, 0, 0]);
  });

  const sequence = (logRatios: number[], advantage = 1) => ({
    ...batchOf(logRatios.map(() => 1)).shape,
    oldLogProbs: new Float64Array(logRatios.length),
    logProbs: Float64Array.from(logRatios),
    advantages: new Float64Array(logRatios.length).fill(advantage),
  });

  it("GSPO", () => {
    const open = verl.computePolicyLossGspo(sequence([0.3, 0.1, -0.1]));
    expectClose([open.loss, ...open.gradLogProbs], [-1.105171, -0.36839, -0.36839, -0.36839], 1e-6);
    const clipped = verl.computePolicyLossGspo(sequence([0.3, 0.3, 0.3]));
    expectClose([clipped.loss, ...clipped.gradLogProbs], [-1.2, 0, 0, 0], 1e-8);
  });

  it("GMPO clips in log space and counts fully masked rows", () => {
    const batch = sequence([0.3, 0.1, -0.1]);
    const { loss, gradLogProbs } = verl.computePolicyLossGeoMean(batch);
    expectClose([loss, ...gradLogProbs], [-1.068939, 0, -0.356313, -0.356313], 1e-6);
    const padded = {
      rows: 2,
      width: 3,
      responseMask: Uint8Array.of(1, 1, 1, 0, 0, 0),
      oldLogProbs: new Float64Array(6),
      logProbs: Float64Array.of(0.3, 0.1, -0.1, 0, 0, 0),
      advantages: new Float64Array(6).fill(1),
    };
    expectClose([verl.computePolicyLossGeoMean(padded).loss], [-1.068939 / 2], 1e-6);
  });

  it("SAPO", () => {
    const results = [1, 2, 0.5].map((ratio) => verl.computePolicyLossSapo(ratios([ratio, 1])));
    expectClose(
      results.map(({ loss }) => loss),
      [-2, -2.924234, -1.510163],
      1e-6,
    );
    expectClose(
      results.map(({ gradLogProbs }) => gradLogProbs[0]!),
      [-1, -1.572895, -0.470007],
      1e-6,
    );
  });

  it("CISPO bounds are offsets from 1", () => {
    const batch = ratios([2, 1]);
    const { gradLogProbs } = verl.computePolicyLossCispo(batch, { clipRatioHigh: 0.28 });
    expectClose(gradLogProbs, [-1.28]);
  });

  it("aggregation of [[1, 1, 1, 1], [3]]", () => {
    const narrow = batchOf([1, 1, 1, 1], [3, null, null, null]);
    const wide = batchOf([1, 1, 1, 1, null, null, null, null], [3, null, null, null, null, null, null, null]);
    const loss = (
      lossAggMode: Parameters<typeof verl.aggLoss>[1]["lossAggMode"],
      { shape, values } = narrow,
    ) => verl.aggLoss({ ...shape, lossMat: values }, { lossAggMode });
    expectClose(
      [loss("token-mean"), loss("seq-mean-token-mean"), loss("seq-mean-token-sum")],
      [1.4, 2, 3.5],
      1e-8,
    );
    expectClose([loss("seq-mean-token-sum-norm"), loss("seq-mean-token-sum-norm", wide)], [1.75, 0.875]);
  });

  it("an empty mask gives NaN; means over rows leave empty rows out", () => {
    const { shape } = batchOf([null, null], [null, null]);
    expect(verl.aggLoss({ ...shape, lossMat: new Float64Array(4) }, { lossAggMode: "token-mean" })).toBeNaN();
    const half = batchOf([2, 2], [null, null]);
    const lossMat = half.values;
    expectClose([verl.aggLoss({ ...half.shape, lossMat }, { lossAggMode: "seq-mean-token-sum" })], [4]);
  });

  it("NaN in the padding: token-mean leaves it out, means over rows multiply it in", () => {
    const { shape } = batchOf([1, null]);
    const lossMat = Float64Array.of(1, Number.NaN);
    expect(verl.aggLoss({ ...shape, lossMat }, { lossAggMode: "token-mean" })).toBe(1);
    expect(verl.aggLoss({ ...shape, lossMat }, { lossAggMode: "seq-mean-token-sum" })).toBeNaN();
  });

  it("KL estimates", () => {
    const { shape } = column(1, 1, 1, 1);
    const batch = {
      ...shape,
      logProbs: Float64Array.of(0.5, -0.5, -3, -100),
      refLogProbs: new Float64Array(4),
    };
    const kl = (klPenalty: string) => verl.klPenalty(batch, { klPenalty });
    expectClose(kl("k1").values, [0.5, -0.5, -3, -100]);
    expectClose(kl("abs").gradLogProbs, [1, -1, -1, -1]);
    expectClose(kl("k2").values, [0.125, 0.125, 4.5, 5000]);
    expectClose(kl("k3").values, [0.106531, 0.148721, 10, 10], 1e-6);
    expectClose(kl("k3").gradLogProbs, [0.393469, -0.648721, 0, 0], 1e-6);
    expectClose(kl("k3+").values, kl("low_var_kl").values, 0);
    expectClose(kl("k3+").gradLogProbs, [0.5, -0.5, -3, -100]);
  });

  it("value loss: an exact tie splits the gradient", () => {
    const { shape } = column(1);
    const batch = {
      ...shape,
      vpreds: Float64Array.of(1),
      values: Float64Array.of(0),
      returns: Float64Array.of(0.75),
    };
    const { loss, gradValues } = verl.computeValueLoss(batch, { cliprangeValue: 0.5 });
    expectClose([loss, gradValues[0]!], [0.03125, 0.125]);
  });
});
