// Golden values of KL penalty, value loss, entropy bonus and importance weights.
import { describe, expect, it } from "vitest";
import {
  entropyBonus,
  importanceWeights,
  klPenalty,
  ragged,
  reinforceLoss,
  valueLoss,
} from "../../lib/index.ts";
import { expectClose } from "../support/compare.ts";

const types = ["float64", "float32"] as const;
type Type = (typeof types)[number];

function kl(d: number, options: Parameters<typeof klPenalty>[1] = {}, type: Type = "float64") {
  const { values, gradLogProbs, stats } = klPenalty(
    { logProbs: ragged([[d]], type), refLogProbs: ragged([[0]], type) },
    options as object,
  );
  return { value: values.data[0]!, gradient: gradLogProbs.data[0]!, stats };
}

describe("2.3 KL estimators", () => {
  it.each([
    ["k1", 0.5, 1],
    ["abs", 0.5, 1],
    ["k2", 0.125, 0.5],
    ["k3", 0.106531, 0.393469],
  ] as const)("%s at d = .5: value %d, gradient %d", (estimator, value, gradient) => {
    for (const type of types) {
      const at = kl(0.5, { estimator }, type);
      expectClose([at.value, at.gradient], [value, gradient], 1e-6);
    }
  });

  it("k3 at d = -.5 and d = -3", () => {
    const [half, three] = [kl(-0.5), kl(-3)];
    expectClose([half.value, half.gradient], [0.148721, -0.648721], 1e-6);
    expectClose([three.value, three.gradient], [16.085537, -19.085537], 1e-7);
  });

  it("d = -100: finite, and the gradient keeps its sign", () => {
    for (const type of types) {
      for (const d of [-100, -1000, Number.NEGATIVE_INFINITY]) {
        const at = kl(d, {}, type);
        expectClose([at.value, at.gradient], [Math.exp(20) - 21, 1 - Math.exp(20)], 1e-6);
        expect(at.stats.clampedTokens).toBe(1);
      }
      expectClose([kl(100, {}, type).gradient], [1 - Math.exp(-20)], 1e-6);
      expectClose([kl(-30, { logRatioClamp: 10 }, type).gradient], [1 - Math.exp(10)], 1e-6);
      expect(kl(-100, { estimator: "k2" }, type).gradient).toBe(-20);
    }
  });

  it("fp32 cancellation at d = 1e-4: all digits, where the exp form gives 0", () => {
    const d = Math.fround(1e-4);
    expectClose([kl(1e-4, {}, "float32").value * 1e9], [d * d * (1 / 2 - d / 6) * 1e9], 1e-6);
    expectClose([kl(1e-4).value * 1e9], [4.9998333375], 1e-11);
  });

  it("straight-through: the value of x, the gradient d", () => {
    for (const estimator of ["k1", "k2", "k3", "abs"] as const)
      expect(kl(-0.5, { estimator, gradient: "k2" }).gradient).toBe(-0.5);
  });

  it("exact 3-way softmax: which gradients are those of the reverse KL", () => {
    const softmax = (z: number[]) => {
      const e = z.map(Math.exp);
      return e.map((x) => x / e.reduce((a, b) => a + b, 0));
    };
    const theta = [1, 0, -1];
    const p = softmax(theta);
    const q = softmax([0, 0.5, 0.2]);
    // Off-policy: samples come from pi_old; expectations are sums over the three outcomes.
    const old = softmax([0.3, 0.1, -0.2]);
    const expectation = (sampler: number[], options: Parameters<typeof klPenalty>[1]) => {
      const result = klPenalty(
        {
          logProbs: ragged([p.map(Math.log)]),
          refLogProbs: ragged([q.map(Math.log)]),
          oldLogProbs: ragged([sampler.map(Math.log)]),
        },
        { ...(options as object), aggregation: "sum" },
      );
      // d log p_k / d theta_j = [k = j] - p_j
      const gradient = theta.map((_, j) =>
        sampler.reduce((sum, s, k) => sum + s * result.gradLogProbs.data[k]! * (Number(k === j) - p[j]!), 0),
      );
      const value = sampler.reduce((sum, s, k) => sum + s * result.values.data[k]!, 0);
      return { gradient, value };
    };
    const reverse = [0.375968, -0.228782, -0.147186];
    const forward = [0.406851, -0.181284, -0.225567];
    expectClose([expectation(p, { estimator: "k1" }).value], [0.380521], 1e-6);
    expectClose([expectation(p, { estimator: "k3" }).value], [0.380521], 1e-6);
    expectClose(expectation(p, { estimator: "k1" }).gradient, [0, 0, 0]);
    expectClose(expectation(p, { estimator: "k2" }).gradient, reverse, 1e-6);
    expectClose(expectation(p, { estimator: "k3" }).gradient, forward, 1e-6);
    for (const sampler of [p, old]) {
      for (const estimator of ["k1", "k3"] as const) {
        const { value, gradient } = expectation(sampler, { estimator, gradient: "importance" });
        expectClose([value], [0.380521], 1e-6);
        expectClose(gradient, reverse, 1e-6);
      }
    }
  });
});

describe("2.4 value loss and entropy bonus", () => {
  const one = (v: number, old: number, target: number, clipRange?: number) => {
    const { loss, gradValues } = valueLoss(
      { values: ragged([[v]]), oldValues: ragged([[old]]), returns: ragged([[target]]) },
      clipRange === undefined ? {} : { clipRange },
    );
    return [loss, gradValues.data[0]!];
  };

  it("an exact tie: loss .03125, and the unclipped gradient .25 (not the split .125, not 0)", () => {
    expect(one(1, 0, 0.75, 0.5)).toEqual([0.03125, 0.25]);
  });

  it("clipped and not", () => {
    expectClose(one(1, 0, 0.9, 0.5), [0.08, 0]);
    expectClose(one(1, 0, 0.9), [0.005, 0.1]);
    expectClose(one(1, 0, 0.2, 0.5), [0.32, 0.8]);
  });

  it("entropy: minus the mean, in the weights of the policy loss", () => {
    const entropy = ragged([[Math.LN2, 0.832396], [1]]);
    const { loss, gradEntropy, stats } = entropyBonus({ entropy }, { aggregation: "seq-mean-token-mean" });
    expectClose([loss], [-((Math.LN2 + 0.832396) / 2 + 1) / 2]);
    expectClose(gradEntropy.data, [-0.25, -0.25, -0.5]);
    expectClose([stats.meanEntropy], [(Math.LN2 + 0.832396 + 1) / 3]);
  });
});

describe.each(types)("2.5 importance weights, %s", (type) => {
  const weights = (ratios: number[][], options: Parameters<typeof importanceWeights>[1]) =>
    importanceWeights(
      {
        oldLogProbs: ragged(
          ratios.map((row) => row.map((w) => Math.log(w))),
          type,
        ),
        rolloutLogProbs: ragged(
          ratios.map((row) => row.map(() => 0)),
          type,
        ),
      },
      options as object as never,
    );
  const near = type === "float64" ? 1e-12 : 5e-7;

  it("truncated at 2 and normalised: [[10,.1],[3,3]] -> [[1.3115,.0656],[1.3115,1.3115]]", () => {
    const result = weights(
      [
        [10, 0.1],
        [3, 3],
      ],
      {
        correction: "truncate",
        level: "token",
        max: 2,
        normalize: true,
      },
    );
    expectClose(result.weights.data, [2 / 1.525, 0.1 / 1.525, 2 / 1.525, 2 / 1.525], near);
    expectClose(result.weights.data, [1.3115, 0.0656, 1.3115, 1.3115], 5e-5);
    expectClose([result.stats.meanCorrectedWeight], [1.525], near);
  });

  it("sequence levels: the product, and the geometric mean", () => {
    const by = (level: "sequence-sum" | "sequence-mean") => [
      ...weights(
        [
          [10, 0.1],
          [3, 3],
        ],
        { correction: "truncate", level, max: 5 },
      ).weights.data,
    ];
    expectClose(by("sequence-sum"), [1, 1, 5, 5], near);
    expectClose(by("sequence-mean"), [1, 1, 3, 3], near);
  });

  it("rejecting a sequence by its mean, then truncating its tokens: ratios [10,.1] -> [2,.5]", () => {
    const ratios = [
      [10, 0.1],
      [30, 30],
    ];
    const { kept } = weights(ratios, { correction: "mask", level: "sequence-mean", min: 0.5, max: 2 });
    expect([...kept]).toEqual([1, 1, 0, 0]);
    const batch = {
      oldLogProbs: ragged(ratios.map((row) => row.map((w) => Math.log(w)))),
      rolloutLogProbs: ragged(ratios.map((row) => row.map(() => 0))),
      mask: kept,
    };
    const tokens = importanceWeights(batch, { correction: "truncate", level: "token", min: 0.5, max: 2 });
    expectClose(tokens.weights.data, [2, 0.5, 0, 0]);
    const { gradLogProbs } = reinforceLoss(
      {
        logProbs: batch.oldLogProbs,
        advantages: Float64Array.of(1, 1),
        importanceWeights: tokens.weights,
        mask: kept,
      },
      { denominator: 2 },
    );
    expectClose(gradLogProbs.data, [-1, -0.25, 0, 0]);
  });

  it("bounds are inclusive", () => {
    const { kept } = weights([[1, 1.01, 0.99]], { correction: "mask", level: "token", min: 1, max: 1 });
    expect([...kept]).toEqual([1, 0, 0]);
  });

  it("diagnostics: effective sample size, chi-square, k1, k3", () => {
    const { stats } = weights([[2, 0.5, 1]], { correction: "truncate", level: "token", max: 1.5 });
    expectClose([stats.effectiveSampleSize], [3.5 ** 2 / 5.25], near);
    expectClose([stats.correctedEffectiveSampleSize], [3 ** 2 / 3.5], near);
    expectClose([stats.chi2], [5.25 / 3 - 1], near);
    expectClose([stats.k1, stats.k3], [0, 0.5 / 3], near);
    expectClose([stats.meanWeight, stats.outsideFraction], [3.5 / 3, 1 / 3], near);
  });
});
