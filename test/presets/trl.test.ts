// Golden values of TRL's arithmetic, and that the quirks are there.
import { describe, expect, it } from "vitest";
import { presets, type TrlLossType } from "../../lib/index.ts";
import { expectClose } from "../support/compare.ts";
import { batchOf, ratios } from "./batch.ts";

const { trl } = presets;

describe("trl advantages", () => {
  const group = { rewards: Float64Array.of(1, 0, 0, 1), index: [0, 0, 0, 0] };

  it("one group [1, 0, 0, 1]", () => {
    const signs = [1, -1, -1, 1];
    expectClose(
      trl.grpoAdvantages(group),
      signs.map((x) => x * 0.865875),
      1e-6,
    );
    expectClose(
      trl.grpoAdvantages(group, { scaleRewards: "none" }),
      signs.map((x) => x / 2),
    );
    expectClose(
      trl.rlooAdvantages(group),
      signs.map((x) => (x * 2) / 3),
    );
  });

  it("the batch's standard deviation, ddof 1", () => {
    const batch = { rewards: Float64Array.of(1, 0, 3, 3), index: [0, 0, 1, 1] };
    const deviation = Math.sqrt(((0.75 ** 2 + 1.75 ** 2 + 2 * 1.25 ** 2) as number) / 3);
    const scaled = 0.5 / (deviation + 1e-4);
    expectClose(trl.grpoAdvantages(batch, { scaleRewards: "batch" }), [scaled, -scaled, 0, 0]);
  });

  it("a group of one gets 0", () => {
    const alone = { rewards: Float64Array.of(0.7), index: ["a"] };
    expectClose([...trl.grpoAdvantages(alone), ...trl.rlooAdvantages(alone)], [0, 0]);
  });

  it("eight equal float32 rewards of 0.2: a residue of -0.00015", () => {
    const batch = { rewards: new Float32Array(8).fill(0.2), index: new Array(8).fill("a") };
    expectClose(trl.grpoAdvantages(batch), new Array(8).fill(-0.000149), 1e-6);
  });

  it("RLOO takes the KL off before the baseline, leaves NaN rewards out, and can normalise", () => {
    const kl = Float64Array.of(1, 0, 0, 0);
    expectClose(trl.rlooAdvantages({ ...group, kl }, { beta: 1 }), [-1 / 3, -1 / 3, -1 / 3, 1]);
    const unscorable = { rewards: Float64Array.of(1, Number.NaN, 0, 1), index: [0, 0, 0, 0] };
    expectClose(trl.rlooAdvantages(unscorable), [0.5, 0, -1, 0.5]);
    const normalised = trl.rlooAdvantages(group, { normalizeAdvantages: true });
    const scale = 2 / 3 / (Math.sqrt((4 * (2 / 3) ** 2) / 3) + 1e-4);
    expectClose(normalised, [scale, -scale, -scale, scale]);
  });
});

describe("trl losses", () => {
  // Token losses [[1, 1, 1, 1], [3]]: ratio 1 and advantages -1 and -3.
  const lengths = (width: number) => {
    const row = (length: number) => Array.from({ length: width }, (_, t) => (t < length ? 1 : null));
    const { shape } = batchOf(row(4), row(1));
    const zeros = new Float64Array(2 * width);
    return { ...shape, logProbs: zeros, oldLogProbs: zeros, advantages: Float64Array.of(-1, -3) };
  };
  const loss = (lossType: TrlLossType, width = 4) => trl.computeLoss(lengths(width), { lossType }).loss;

  it("aggregation of [[1, 1, 1, 1], [3]]", () => {
    expectClose([loss("grpo"), loss("bnpo"), loss("dapo"), loss("luspo")], [2, 1.4, 1.4, 3.5]);
    expectClose([loss("dr_grpo", 8), loss("dr_grpo", 4)], [0.4375, 0.875]);
    expectClose([trl.computeLoss(lengths(4), { numItemsInBatch: 14 }).loss], [0.5]);
    expectClose(
      [trl.computeLoss(lengths(4), { lossType: "dr_grpo", maxCompletionLength: 8 }).loss],
      [0.4375],
    );
  });

  it("fully masked rows count in the mean over rows; an empty batch gives 0", () => {
    const { shape } = batchOf([1, 1], [null, null]);
    const zeros = new Float64Array(4);
    const batch = { ...shape, logProbs: zeros, oldLogProbs: zeros, advantages: Float64Array.of(-1, -3) };
    expectClose([trl.computeLoss(batch, { lossType: "grpo" }).loss], [0.5]);
    const empty = { ...batch, responseMask: new Uint8Array(4) };
    expectClose([trl.computeLoss(empty).loss, trl.computeLoss(empty, { lossType: "grpo" }).loss], [0, 0]);
    expectClose([trl.rlooLoss(empty).loss], [2]);
  });

  it("CISPO's bound is the weight itself", () => {
    const { gradLogProbs } = trl.computeLoss(ratios([2, 1]), { lossType: "cispo", epsilonHigh: 0.28 });
    expectClose(gradLogProbs, [-0.28]);
  });

  it("two-sided clip bounds the unclipped ratio", () => {
    const batch = ratios([10, -1]);
    expectClose([trl.computeLoss(batch).loss, trl.computeLoss(batch, { delta: 4 }).loss], [10, 4]);
    expectClose(trl.computeLoss(batch, { delta: 4 }).gradLogProbs, [0]);
  });

  it("one ratio per response: GSPO, and RLOO's unclamped product", () => {
    const { shape } = batchOf([1, 1, 1]);
    const logProbs = Float64Array.of(0.3, 0.1, -0.1);
    const batch = { ...shape, logProbs, oldLogProbs: new Float64Array(3), advantages: Float64Array.of(1) };
    const gspo = trl.computeLoss(batch, { lossType: "grpo", importanceSamplingLevel: "sequence" });
    expectClose([gspo.loss, ...gspo.gradLogProbs], [-1.105171, -0.36839, -0.36839, -0.36839], 1e-6);
    const product = trl.rlooLoss(batch, { epsilonHigh: 1 });
    expectClose(
      [product.loss, ...product.gradLogProbs],
      [-1, -1, -1, -1].map((x) => x * Math.exp(0.3)),
    );
    const far = { ...batch, logProbs: Float64Array.of(1000, 0, 0), advantages: Float64Array.of(-1) };
    expect(trl.rlooLoss(far).loss).toBe(Number.POSITIVE_INFINITY);
  });

  it("k3 has no clamp", () => {
    const { shape } = batchOf([1, 1]);
    const batch = { ...shape, logProbs: Float64Array.of(-3, -1000), refLogProbs: new Float64Array(2) };
    const { values, gradLogProbs } = trl.kl(batch);
    expectClose(values.subarray(0, 1), [16.085537], 1e-6);
    expectClose(gradLogProbs.subarray(0, 1), [-19.085537], 1e-6);
    expect([values[1], gradLogProbs[1]]).toEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
  });
});
