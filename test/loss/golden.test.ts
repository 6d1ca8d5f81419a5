// Golden values of the policy losses and the aggregations: hand-checked, or produced by peers' own functions in float64.
import { describe, expect, it } from "vitest";
import {
  type Aggregation,
  cispoLoss,
  gmpoLoss,
  gspoLoss,
  type LossOptions,
  ppoLoss,
  type PpoLossOptions,
  ragged,
  reinforceLoss,
  sapoLoss,
} from "../../lib/index.ts";
import { expectClose } from "../support/compare.ts";

const types = ["float64", "float32"] as const;
type Type = (typeof types)[number];
const bound = { float64: 1e-12, float32: 2e-7 };

function batch(logRatios: number[][], advantages: number[][], type: Type = "float64", base = -1) {
  return {
    logProbs: ragged(
      logRatios.map((row) => row.map((d) => base + d)),
      type,
    ),
    oldLogProbs: ragged(
      logRatios.map((row) => row.map(() => base)),
      type,
    ),
    advantages: ragged(advantages, type),
  };
}

function onePpo(ratio: number, advantage: number, options: PpoLossOptions, type: Type = "float64") {
  const { loss, gradLogProbs, stats } = ppoLoss(batch([[Math.log(ratio)]], [[advantage]], type, 0), options);
  return { loss, gradient: gradLogProbs.data[0]!, stats };
}

describe.each(types)("2.1 PPO golden (epsilon 0.2 / 0.28, c = 3), %s", (type) => {
  const options = { clipRatioLow: 0.2, clipRatioHigh: 0.28, dualClip: 3 };
  it.each([
    [0.5, 1, -0.5, -0.5],
    [0.5, -1, 0.8, 0],
    [1, 1, -1, -1],
    [1, -1, 1, 1],
    [1.3, 1, -1.28, 0],
    [1.3, -1, 1.3, 1.3],
    [10, 1, -1.28, 0],
    [10, -1, 3, 0],
  ])("rho = %d, A = %d: loss %d, gradient %d", (ratio, advantage, loss, gradient) => {
    const result = onePpo(ratio, advantage, options, type);
    expectClose([result.loss, result.gradient], [loss, gradient], bound[type]);
  });

  it.each([0, 1, -50, 1000, -1000, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "A = 0: loss and gradient are +0 at log-ratio %d",
    (logRatio) => {
      const { loss, gradLogProbs } = ppoLoss(batch([[logRatio]], [[0]], type, 0), options);
      expect([loss, gradLogProbs.data[0]]).toEqual([0, 0]);
    },
  );
});

describe.each(types)("2.1 PPO at exact ties and beyond, %s", (type) => {
  // The kernel's own exp, so that bounds can be put exactly on a ratio.
  const rho = (ratio: number) => -onePpo(ratio, 1, { clipRatioHigh: 1e6 }, type).loss;
  const run = (ratio: number, advantage: number, options: PpoLossOptions) =>
    onePpo(ratio, advantage, options, type);

  it("bounds are inclusive: at rho = 1 +- epsilon the gradient passes", () => {
    const [above, below] = [rho(1.5), rho(0.5)];
    expect(run(1.5, 1, { clipRatioHigh: above - 1 }).gradient).toBe(-above);
    expect(run(0.5, -1, { clipRatioLow: 1 - below }).gradient).toBe(below);
    expect(run(1, 1, { clipRatio: 0 }).gradient).toBe(-1);
    expect(run(1.51, 1, { clipRatioHigh: above - 1 }).gradient).toBe(0);
    expect(run(0.49, -1, { clipRatioLow: 1 - below }).gradient).toBe(0);
  });

  it("dual clip: at rho = c the unclipped gradient flows; a split tie would give half of it", () => {
    const c = rho(3);
    expect(run(3, -1, { dualClip: c })).toMatchObject({ loss: c, gradient: c });
    expect(run(3.01, -1, { dualClip: c })).toMatchObject({ loss: c, gradient: 0 });
    expect(run(3, -1, { dualClip: c }).stats.clipFractionLower).toBe(0);
    expect(run(3.01, -1, { dualClip: c }).stats.clipFractionLower).toBe(1);
  });

  it("two-sided: maxRatio bounds the unclipped term for A < 0 only, and passes the gradient at the bound", () => {
    const maxRatio = rho(4);
    expect(run(10, -1, { maxRatio })).toMatchObject({ loss: maxRatio, gradient: 0 });
    expect(run(4, -1, { maxRatio })).toMatchObject({ loss: maxRatio, gradient: maxRatio });
    expectClose([run(3, -2, { maxRatio }).loss, run(3, -2, { maxRatio }).gradient], [6, 6], bound[type]);
    expectClose([run(10, 1, { maxRatio }).loss], [-1.2], bound[type]);
    expect(run(10, -1, { maxRatio }).stats.clipFractionLower).toBe(1);
  });
});

describe.each(types)("2.1 sequence-level and soft objectives, %s", (type) => {
  it("GSPO log-ratios [.3, .1, -.1], A = 1", () => {
    const { loss, gradLogProbs } = gspoLoss(batch([[0.3, 0.1, -0.1]], [[1, 1, 1]], type));
    expectClose([loss], [-1.105171], 1e-6);
    expectClose(gradLogProbs.data, [-0.36839, -0.36839, -0.36839], 1e-6);
  });

  it("GSPO all .3, epsilon .2: clipped", () => {
    const { loss, gradLogProbs } = gspoLoss(batch([[0.3, 0.3, 0.3]], [[1, 1, 1]], type));
    expectClose([loss, ...gradLogProbs.data], [-1.2, 0, 0, 0], bound[type]);
  });

  it("GMPO log-ratios [.3, .1, -.1], A = 1, epsilon .2", () => {
    const { loss, gradLogProbs } = gmpoLoss(batch([[0.3, 0.1, -0.1]], [[1, 1, 1]], type));
    expectClose([loss], [-1.068939], 1e-6);
    expectClose(gradLogProbs.data, [0, -0.356313, -0.356313], 1e-6);
  });

  it.each([
    [1, -2, -1],
    [2, -2.924234, -1.572895],
    [0.5, -1.510163, -0.470007],
  ])("SAPO A = 1, rho = %d: loss %d, gradient %d", (ratio, loss, gradient) => {
    const result = sapoLoss(batch([[Math.log(ratio)]], [[1]], type));
    expectClose([result.loss, result.gradLogProbs.data[0]!], [loss, gradient], 1e-6);
  });

  it("CISPO 0.28 at rho = 2: weight 1.28 as an offset, 0.28 as an absolute bound; the gradient never stops", () => {
    const two = batch([[Math.log(2)]], [[1]], type);
    const offset = cispoLoss(two, { clipRatioHigh: 0.28 });
    const absolute = cispoLoss(two, { bounds: "absolute", clipRatioHigh: 0.28 });
    const wide = cispoLoss(two, { bounds: "absolute", clipRatioHigh: 5 });
    const gradients = [offset, absolute, wide].map((result) => result.gradLogProbs.data[0]!);
    expectClose(gradients, [-1.28, -0.28, -2], bound[type]);
    expectClose([offset.loss], [-1.28 * (Math.log(2) - 1)], bound[type]);
  });

  it("REINFORCE: -A log pi, gradient -A", () => {
    const { loss, gradLogProbs } = reinforceLoss(batch([[-1, 0.5]], [[2, -1]], type), { aggregation: "sum" });
    expectClose([loss, ...gradLogProbs.data], [4 + -0.5, -2, 1], bound[type]);
  });
});

describe("2.2 aggregation of losses [1,1,1,1] and [3]", () => {
  // -A rho at rho = 1: advantages are minus the losses.
  const data = batch([[0, 0, 0, 0], [0]], [[-1, -1, -1, -1], [-3]]);
  const by = (aggregation: Aggregation, more: LossOptions = {}) =>
    ppoLoss(data, { ...(more as object), aggregation });

  it.each([
    ["token-mean", 1.4, 5],
    ["seq-mean-token-mean", 2, 2],
    ["seq-mean-token-sum", 3.5, 2],
    ["sum", 7, 1],
  ] as const)("%s is %d, count %d", (aggregation, loss, count) => {
    const result = by(aggregation);
    expectClose([result.loss], [loss]);
    expect(result.count).toBe(count);
    expectClose([result.sum / result.count], [loss]);
  });

  it("sum over a constant normaliser: B x L_max, whatever the padding", () => {
    expectClose([by("sum", { denominator: 2 * 8 }).loss], [0.4375]);
    expectClose([by("sum", { denominator: 4 }).loss], [1.75]);
  });

  it("prompt-mean: two prompts give the mean of their token means, one prompt gives the token mean", () => {
    expectClose([by("prompt-mean", { groups: ["a", "b"] }).loss], [2]);
    expectClose([by("prompt-mean", { groups: ["a", "a"] }).loss], [1.4]);
    expectClose([by("prompt-mean", { promptTokens: [5, 5] }).loss], [1.4]);
    expect(by("prompt-mean", { promptTokens: [5, 5] }).count).toBe(1);
  });

  it("gradients carry the same weights", () => {
    expectClose(by("seq-mean-token-mean").gradLogProbs.data, [0.125, 0.125, 0.125, 0.125, 1.5]);
    expectClose(by("token-mean").gradLogProbs.data, [0.2, 0.2, 0.2, 0.2, 0.6]);
  });

  it("nothing counted: 0, whatever the aggregation", () => {
    for (const aggregation of ["token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "sum"] as const) {
      const result = ppoLoss({ ...data, mask: new Uint8Array(5) }, { aggregation });
      expect([result.loss, result.sum, ...result.gradLogProbs.data]).toEqual([0, 0, 0, 0, 0, 0, 0]);
    }
  });
});
