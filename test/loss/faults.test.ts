// Faults that users of other libraries reported, each as the smallest input and the right behaviour.
import { describe, expect, it } from "vitest";
import {
  cispoLoss,
  gmpoLoss,
  gspoLoss,
  importanceWeights,
  klPenalty,
  ppoLoss,
  ragged,
  reinforceLoss,
  sapoLoss,
} from "../../lib/index.ts";
import { errorCode, expectClose } from "../support/compare.ts";

function batch(logProbs: number[][], oldLogProbs: number[][], advantages: number[][]) {
  return {
    logProbs: ragged(logProbs),
    oldLogProbs: ragged(oldLogProbs),
    advantages: ragged(advantages),
  };
}

/** At ratio 1, with advantages of minus the wanted losses. */
function losses(rows: number[][]) {
  const zeros = rows.map((row) => row.map(() => 0));
  return batch(
    zeros,
    zeros,
    rows.map((row) => row.map((x) => -x)),
  );
}

describe("losses: reported faults", () => {
  it("verl I5625: micro-batches with the global denominator add up to the token mean", () => {
    const parts = [[[1, 1, 1, 1]], [[3]]].map((rows) => ppoLoss(losses(rows), { denominator: 5 }).loss);
    expectClose([parts[0]! + parts[1]!], [1.4]);
  });

  it("verl I7321: the count is returned, so that a local mean cannot pass for the global one", () => {
    const [first, second] = [ppoLoss(losses([[1, 1, 1, 1]])), ppoLoss(losses([[3]]))];
    expect([first.count, second.count]).toEqual([4, 1]);
    expectClose([(first.sum + second.sum) / (first.count + second.count)], [1.4]);
    expectClose([(first.loss + second.loss) / 2], [2]); // what averaging the means would give
  });

  it("verl I3741: no loss depends on a padded width; two micro-batches of one equal a batch of two", () => {
    const rows = [[1, 1, 1, 1], [3]];
    const whole = ppoLoss(losses(rows), { aggregation: "sum", denominator: 2 * 4 });
    const parts = rows.map((row) => ppoLoss(losses([row]), { aggregation: "sum", denominator: 2 * 4 }).loss);
    expectClose([parts[0]! + parts[1]!], [whole.loss]);
    const padded = losses([
      [1, 1, 1, 1, 9, 9],
      [3, 9, 9, 9, 9, 9],
    ]);
    const mask = Uint8Array.of(1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0);
    expect(ppoLoss({ ...padded, mask }, { aggregation: "sum", denominator: 8 }).loss).toBe(whole.loss);
  });

  it("verl I6478 / P6538: log-ratio 100 with A = 0 gives loss 0 and gradient 0", () => {
    const data = batch([[100]], [[0]], [[0]]);
    for (const loss of [ppoLoss, gspoLoss, gmpoLoss, cispoLoss, sapoLoss]) {
      const result = loss(data);
      expect([result.loss, result.gradLogProbs.data[0]]).toEqual([0, 0]);
    }
  });

  it("verl P6058: straight-through k3 at d = -.5 has value .148721 and gradient -.5", () => {
    const { values, gradLogProbs } = klPenalty(
      { logProbs: ragged([[-0.5]]), refLogProbs: ragged([[0]]) },
      { estimator: "k3", gradient: "k2" },
    );
    expectClose([values.data[0]!, gradLogProbs.data[0]!], [0.148721, -0.5], 1e-6);
  });

  it("verl P6377: bounds (.9, 1.5) are on the weight: [.8, 1, 1.2] keeps [0, 1, 1]", () => {
    const { kept, weights } = importanceWeights(
      {
        oldLogProbs: ragged([[0.8, 1, 1.2].map(Math.log)]),
        rolloutLogProbs: ragged([[0, 0, 0]]),
      },
      { correction: "mask", level: "token", min: 0.9, max: 1.5 },
    );
    expect([...kept]).toEqual([0, 1, 1]);
    expectClose(weights.data, [0, 1, 1.2]);
  });

  it("verl P1779: log-ratios of +-1000 give a finite loss and gradient", () => {
    for (const d of [1000, -1000, Infinity, -Infinity]) {
      for (const A of [1, -1, 0]) {
        const data = batch([[d, 0]], [[0, 0]], [[A, A]]);
        for (const loss of [ppoLoss, gspoLoss, gmpoLoss, cispoLoss, sapoLoss]) {
          const result = loss(data);
          expect([result.loss, ...result.gradLogProbs.data].every(Number.isFinite)).toBe(true);
        }
      }
    }
  });

  it("verl P782: an empty mask gives 0", () => {
    const data = { ...losses([[1, 2]]), mask: new Uint8Array(2) };
    const result = ppoLoss(data);
    expect([result.loss, result.count, ...Object.values(result.stats)].every((x) => x === 0)).toBe(true);
  });

  it("verl I2088, I2996: equal log-probs give a ratio of exactly 1", () => {
    for (const type of ["float32", "float64"] as const) {
      const logProbs = ragged([[-0.1234567, -17.25, -3.3333333]], type);
      const result = ppoLoss({ logProbs, oldLogProbs: logProbs, advantages: ragged([[1, 1, 1]], type) });
      const { meanRatio, minRatio, maxRatio, approxKl, approxKlK3, clipFraction } = result.stats;
      expect([meanRatio, minRatio, maxRatio, approxKl, approxKlK3, clipFraction]).toEqual([1, 1, 1, 0, 0, 0]);
      expect(result.loss).toBe(-1);
    }
  });

  it("TRL I6369 / P6439: numerator and denominator share one mask", () => {
    const data = losses([[2, 2, 50], [4]]);
    expectClose([ppoLoss({ ...data, mask: Uint8Array.of(1, 1, 0, 1) }).loss], [8 / 3]);
  });

  it("TRL I5619 / P6024: the denominator is an argument, so steps per generation cannot change the scale", () => {
    const whole = ppoLoss(losses([[1, 2], [3], [4, 5, 6]]));
    for (const split of [
      [[[1, 2]], [[3], [4, 5, 6]]],
      [[[1, 2]], [[3]], [[4, 5, 6]]],
    ]) {
      const parts = split.map((rows) => ppoLoss(losses(rows), { denominator: whole.count }).loss);
      expectClose([parts.reduce((a, b) => a + b, 0)], [whole.loss]);
    }
  });

  it("TRL I3823: GSPO weights sequences of length 4 and 1 equally in sequence mode", () => {
    const data = batch([[0.1, 0.1, 0.1, 0.1], [0.1]], [[0, 0, 0, 0], [0]], [[1, 1, 1, 1], [1]]);
    const { gradLogProbs } = gspoLoss(data);
    const ofFirst = gradLogProbs.data.subarray(0, 4).reduce((a, b) => a + b, 0);
    expectClose([ofFirst], [gradLogProbs.data[4]!]);
    const byTokens = gspoLoss(data, { aggregation: "token-mean" }).gradLogProbs.data;
    expectClose([byTokens.subarray(0, 4).reduce((a, b) => a + b, 0)], [4 * byTokens[4]!]);
  });

  it("TRL I3187, I3021, P3138: the normalisers differ, each under its name", () => {
    const data = losses([[1, 1, 1, 1], [3]]);
    const by = (options: Parameters<typeof ppoLoss>[1]) => ppoLoss(data, options as object).loss;
    expectClose([by({ aggregation: "seq-mean-token-mean" })], [2]); // GRPO
    expectClose([by({ aggregation: "token-mean" })], [1.4]); // DAPO, BNPO
    expectClose([by({ aggregation: "sum", denominator: 2 * 4 })], [0.875]); // Dr. GRPO, B x L_max
  });

  it("TRL I5375: the mean per prompt has a mode of its own", () => {
    const data = losses([[1, 1], [1, 1], [4]]);
    expectClose([ppoLoss(data, { aggregation: "prompt-mean", groups: ["p", "p", "q"] }).loss], [2.5]);
  });

  it("TRL P6654, P6095: a fully masked row contributes 0 to value, gradient and count", () => {
    const rows = [
      [0.3, 0.1, -0.1],
      [Number.NaN, Number.NaN],
    ];
    const data = {
      ...batch(
        rows,
        [
          [0, 0, 0],
          [Number.NaN, 0],
        ],
        [
          [1, 1, 1],
          [Number.NaN, 1],
        ],
      ),
      mask: Uint8Array.of(1, 1, 1, 0, 0),
    };
    const alone = batch([rows[0]!], [[0, 0, 0]], [[1, 1, 1]]);
    for (const loss of [ppoLoss, gspoLoss, gmpoLoss, cispoLoss, sapoLoss]) {
      for (const aggregation of ["token-mean", "seq-mean-token-mean", "seq-mean-token-sum"] as const) {
        const [two, one] = [loss(data, { aggregation }), loss(alone, { aggregation })];
        expect([two.loss, two.count]).toEqual([one.loss, one.count]);
        expect([...two.gradLogProbs.data]).toEqual([...one.gradLogProbs.data, 0, 0]);
      }
    }
  });

  it("OpenRLHF P1240: a NaN under the mask does not poison loss or KL", () => {
    const mask = Uint8Array.of(1, 0);
    const data = { ...batch([[0, 0]], [[0, Number.NaN]], [[1, 1]]), mask };
    expect(ppoLoss(data).loss).toBe(-1);
    const penalty = klPenalty({ logProbs: data.logProbs, refLogProbs: data.oldLogProbs, mask });
    expect([penalty.loss, ...penalty.values.data]).toEqual([0, 0, 0]);
  });

  it("OpenRLHF P1335: k3 at d = -100 has a finite gradient, of the right sign", () => {
    for (const gradient of ["same", "k2", "importance"] as const) {
      const { gradLogProbs } = klPenalty(
        { logProbs: ragged([[-100]]), refLogProbs: ragged([[0]]) },
        { estimator: "k3", gradient },
      );
      expect(Number.isFinite(gradLogProbs.data[0]!)).toBe(true);
      expect(gradLogProbs.data[0]).toBeLessThan(0);
    }
  });

  it("OpenRLHF P1293: GSPO at log-ratios [100, -100] has ratio 1, at [100, 100] a finite one", () => {
    const at = (d: number[]) => gspoLoss(batch([d], [[0, 0]], [[-1, -1]])).loss;
    expect(at([100, -100])).toBe(1);
    expectClose([at([100, 100])], [Math.exp(20)]);
    expect(at([Infinity, -Infinity])).toBe(1);
  });

  it("OpenRLHF P1309, P1101; slime P1039: k2 and importance gradients are those of the reverse KL", () => {
    // At p = (.5, .5), q = (.8, .2): d KL / d theta_0 = sum_k p_k d_k ([k = 0] - p_0).
    const [p, q] = [
      [0.5, 0.5],
      [0.8, 0.2],
    ];
    const d = p!.map((x, k) => Math.log(x / q![k]!));
    const wanted = p!.reduce((sum, x, k) => sum + x * d[k]! * (Number(k === 0) - p![0]!), 0);
    for (const gradient of ["k2", "importance"] as const) {
      const { gradLogProbs } = klPenalty(
        { logProbs: ragged([p!.map(Math.log)]), refLogProbs: ragged([q!.map(Math.log)]) },
        { gradient, aggregation: "sum" },
      );
      const got = p!.reduce((sum, x, k) => sum + x * gradLogProbs.data[k]! * (Number(k === 0) - p![0]!), 0);
      expectClose([got], [wanted]);
    }
  });

  it("ROLL P444: the token mean reads its mask", () => {
    const data = {
      ...losses([
        [1, 100],
        [1, -50],
      ]),
      mask: Uint8Array.of(1, 0, 1, 0),
    };
    const { loss, gradLogProbs } = ppoLoss(data);
    expect(loss).toBe(1);
    expect([...gradLogProbs.data]).toEqual([0.5, 0, 0.5, 0]);
  });

  it("slime P2198, miles P1363, prime-rl P2973: clamped and raw statistics side by side, with the number clamped", () => {
    const { stats } = ppoLoss(batch([[30, 1]], [[0, 0]], [[1, 1]]));
    expect(stats.clampedTokens).toBe(1);
    expectClose([stats.maxRatio / Math.exp(20), stats.maxLogRatio], [1, 30]);
    expectClose([stats.approxKl, stats.rawApproxKl], [-10.5, -15.5]);
    expectClose([stats.meanRatio], [(Math.exp(20) + Math.E) / 2]);
    expectClose([stats.rawMeanRatio], [(Math.exp(30) + Math.E) / 2]);
    expectClose([stats.rawApproxKlK3], [(Math.exp(30) - 31 + Math.E - 2) / 2]);
    expect(ppoLoss(batch([[Infinity]], [[0]], [[1]])).stats.rawMeanRatio).toBe(Infinity);
  });

  it("Liger I1082, I968: a gradient with every aggregation, none of them 0", () => {
    for (const aggregation of ["token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "sum"] as const) {
      const { gradLogProbs } = reinforceLoss(losses([[1, 2], [3]]), { aggregation });
      expect([...gradLogProbs.data].every((g) => g > 0)).toBe(true);
    }
  });

  it("(-Infinity) - (-Infinity) is an error, not a number", () => {
    const data = batch([[0, -Infinity]], [[0, -Infinity]], [[0, 0]]);
    for (const loss of [ppoLoss, gspoLoss, gmpoLoss, cispoLoss, sapoLoss]) {
      expect(errorCode(() => loss(data))).toBe("ERR_NOT_FINITE");
      expect(() => loss(data)).toThrow(/row 0, position 1/);
    }
    expect(errorCode(() => klPenalty({ logProbs: data.logProbs, refLogProbs: data.oldLogProbs }))).toBe(
      "ERR_NOT_FINITE",
    );
  });
});
