import { describe, expect, it } from "vitest";
import { ragged } from "../../../lib/ragged.ts";
import { parseTrainConfig } from "../../../lib/train/config/index.ts";
import { ESTIMATORS } from "../../../lib/train/config/algorithm.ts";
import { estimateAdvantages } from "../../../lib/train/rl/advantages.ts";
import { assignCredit } from "../../../lib/train/rl/credit.ts";
import { type Scored, tokenRewards } from "../../../lib/train/rl/token-rewards.ts";

const NaNs = (count: number) => new Float32Array(count).fill(Number.NaN);

interface Case {
  mode?: "prm" | "vr" | "prm+vr" | "function";
  steps?: number[][];
  ends: number[][];
  lengths: number[];
  verified?: number[];
  tokens?: number[][];
  kl?: { values: number[][]; coefficient: number };
  mask?: number[];
  reward?: object;
  algorithm?: object;
  klConfig?: object;
}

function scoredOf(given: Case): Scored {
  const { mode = "prm", steps, ends, lengths, verified, tokens, kl, mask } = given;
  const config = parseTrainConfig({
    model: { path: "m" },
    data: { train: "t" },
    reward: { mode, ...given.reward },
    algorithm: { normalize: "none", ...given.algorithm },
    kl: { ...given.klConfig },
  });
  const offsets = Int32Array.from([
    0,
    ...lengths.map((_, i) => lengths.slice(0, i + 1).reduce((a, b) => a + b, 0)),
  ]);
  const stepEnds = ragged(ends, "int32");
  const stepRewards = steps && ragged(steps, "float32");
  const rewards = {
    stepEnds,
    steps: stepRewards,
    tokens: tokens && ragged(tokens, "float32"),
    verified: verified === undefined ? NaNs(lengths.length) : Float32Array.from(verified),
  };
  return {
    config,
    offsets,
    rewards,
    credit: stepRewards && assignCredit(stepRewards, stepEnds, config.reward),
    kl: kl && { values: ragged(kl.values, "float32"), coefficient: kl.coefficient },
    mask: mask && Uint8Array.from(mask),
  };
}

const groups = (count: number, size = 2) =>
  Int32Array.from({ length: count }, (_, i) => Math.floor(i / size));

function advantagesOf(given: Case, size = 2): number[][] {
  const scored = scoredOf(given);
  const { advantages } = estimateAdvantages(scored, { groups: groups(given.lengths.length, size) });
  return given.lengths.map((_, i) =>
    Array.from(
      advantages.data.subarray(scored.offsets[i], scored.offsets[i + 1]),
      (x) => Number(x.toFixed(5)) + 0,
    ),
  );
}

// Two responses: steps end at tokens 2 and 5 (rewards .4, .2), and at token 3 (reward -.3).
const TWO: Case = {
  steps: [[0.4, 0.2], [-0.3]],
  ends: [[2, 5], [3]],
  lengths: [6, 4],
  reward: { credit: "sum" },
};
const row = (value: number, length: number) => new Array(length).fill(value);

describe("leave-one-out", () => {
  it("takes the siblings' mean token return off, baseline `return`", () => {
    // Returns: [.6 x3, .2 x3] and [-.3 x4].
    expect(advantagesOf({ ...TWO, algorithm: { baseline: "return" } })).toEqual([
      [...row(0.9, 3), ...row(0.5, 3)],
      row(-0.7, 4),
    ]);
  });

  it("takes rates off at the ends of steps, baselines `step` and `token`", () => {
    // Step: .4 + .3, .2 + .3 and -.3 - .3. Token: sibling's rate -.3 / 4 and .6 / 6 per token.
    expect(advantagesOf({ ...TWO, algorithm: { baseline: "step" } })).toEqual([
      [...row(1.2, 3), ...row(0.5, 3)],
      row(-0.6, 4),
    ]);
    expect(advantagesOf({ ...TWO, algorithm: { baseline: "token" } })).toEqual([
      [...row(1.05, 3), ...row(0.425, 3)],
      row(-0.7, 4),
    ]);
  });

  it("adds the verifiable reward with a baseline of its own, whatever its coding", () => {
    const both = { ...TWO, mode: "prm+vr" as const, verified: [1, 0], algorithm: { baseline: "return" } };
    const expected = [[...row(1.9, 3), ...row(1.5, 3)], row(-1.7, 4)];
    expect(advantagesOf(both)).toEqual(expected);
    expect(advantagesOf({ ...both, reward: { credit: "sum", verifiableCoding: "minus-one-zero" } })).toEqual(
      expected,
    );
    expect(advantagesOf({ ...both, reward: { credit: "sum", verifiableCoefficient: 0 } })).toEqual(
      advantagesOf({ ...TWO, algorithm: { baseline: "return" } }),
    );
    expect(advantagesOf({ ...both, reward: { credit: "sum", prmCoefficient: 0 } })).toEqual([
      row(1, 6),
      row(-1, 4),
    ]);
  });

  it("gives nothing for two right answers of different lengths, nor for unknown ones", () => {
    const vr = { mode: "vr" as const, ends: [[5], [3]], lengths: [6, 4] };
    expect(advantagesOf({ ...vr, verified: [1, 1] })).toEqual([row(0, 6), row(0, 4)]);
    expect(advantagesOf({ ...vr, verified: [Number.NaN, Number.NaN] })).toEqual([row(0, 6), row(0, 4)]);
    expect(advantagesOf({ ...vr, verified: [1, 0] })).toEqual([row(1, 6), row(-1, 4)]);
  });

  it("takes the KL penalty after the baseline or before it", () => {
    const kl = { values: [row(1, 6), row(0, 4)], coefficient: 0.1 };
    const vr = { mode: "vr" as const, ends: [[5], [3]], lengths: [6, 4], verified: [1, 1], kl };
    const after = advantagesOf({ ...vr, klConfig: { place: "reward", placement: "after" } });
    expect(after).toEqual([[-0.6, -0.5, -0.4, -0.3, -0.2, -0.1], row(0, 4)]);
    const before = advantagesOf({
      ...vr,
      klConfig: { place: "reward", placement: "before" },
      algorithm: { baseline: "outcome" },
    });
    expect(before[1]).toEqual(row(0.6, 4));
  });

  it("neither trains on responses left out nor compares with them", () => {
    const mask = [...row(1, 6), ...row(1, 4), ...row(0, 3)];
    const three = {
      ...TWO,
      lengths: [6, 4, 3],
      ends: [[2, 5], [3], [2]],
      steps: [[0.4, 0.2], [-0.3], [0.9]],
    };
    const result = advantagesOf({ ...three, mask, algorithm: { baseline: "return" } }, 3);
    expect(result).toEqual([...advantagesOf({ ...TWO, algorithm: { baseline: "return" } }), row(0, 3)]);
  });
});

describe("credit", () => {
  const returnsOf = (reward: object) => {
    const scored = scoredOf({ steps: [[0.9, -0.2, 0.5]], ends: [[0, 1, 3]], lengths: [4], reward });
    const { data } = scored.credit!.rewards;
    return [data[0]! + data[1]! + data[2]!, data[1]! + data[2]!, data[2]!].map((x) => Number(x.toFixed(6)));
  };

  it.each([
    [{ credit: "min-form" }, [-0.199344, -0.199359, 0.000456]],
    [{ credit: "min-form", creditTemperature: 1 }, [0.190153, 0.026396, 0.135718]],
    [{ credit: "strict-min-form" }, [-0.2, -0.2, 0.5]],
    [{ credit: "sum" }, [1.2, 0.3, 0.5]],
    [{ credit: "mean" }, [0.4, 0.1, 0.166667]],
    [{ credit: "gamma-decay", gamma: 0.9 }, [1.125, 0.25, 0.5]],
    [{ credit: "gamma-decay", gamma: 0.9, gammaBy: "token" }, [1.0845, 0.205, 0.5]],
    [{ credit: "product" }, [-0.09, -0.1, 0.5]],
  ])("%j", (reward, expected) => {
    returnsOf(reward).forEach((value, i) => {
      expect(value).toBeCloseTo(expected[i]!, 5);
    });
  });
});

describe("the other estimators", () => {
  const FOUR: Case = {
    mode: "vr",
    ends: [[1], [0], [2], [1]],
    lengths: [2, 1, 3, 2],
    verified: [1, 0, 0, 1],
  };

  it("have one number per response", () => {
    const firsts = (estimator: string) =>
      advantagesOf({ ...FOUR, algorithm: { estimator } }, 4).map(([first]) => first);
    expect(firsts("grpo")).toEqual([0.86602, -0.86602, -0.86602, 0.86602]);
    expect(firsts("dr-grpo")).toEqual([0.5, -0.5, -0.5, 0.5]);
    expect(firsts("reinforce++-baseline")).toEqual([0.5, -0.5, -0.5, 0.5]);
    expect(firsts("opo")).toEqual([0.5, -0.5, -0.5, 0.5]);
    expect(firsts("grpo-passk")).toEqual([0, 0, 0, 0]);
  });

  it("have all rewards on the tokens", () => {
    const given = { ...TWO, mode: "prm+vr" as const, verified: [1, Number.NaN] };
    const kl = { values: [row(1, 6), row(2, 4)], coefficient: 0.1 };
    const { data } = tokenRewards(scoredOf({ ...given, kl }));
    const expected = [-0.1, -0.1, 0.3, -0.1, -0.1, 1.1, -0.2, -0.2, -0.2, -0.5];
    expect(Array.from(data, (x) => Number(x.toFixed(5)))).toEqual(expected);
    const scored = scoredOf(given);
    const greedy = Float32Array.of(0.5, 0.5);
    const remax = estimateAdvantages(
      { ...scored, config: withEstimator(scored, "remax") },
      { groups: groups(2), greedy },
    );
    expect(remax.advantages.data[0]).toBeCloseTo(1.6 - 0.5, 5);
    const values = { data: new Float32Array(10).fill(0.25), offsets: scored.offsets };
    const bootstrap = Float32Array.of(0, 2);
    const gae = estimateAdvantages(
      { ...scored, config: withEstimator(scored, "gae") },
      { groups: groups(2), values, bootstrap },
    );
    expect(gae.returns.data[0]).toBeCloseTo(1.6, 5);
    expect(gae.advantages.data[6]).toBeCloseTo(-0.3 + 2 - 0.25, 5);
  });

  it("weigh returns by the squared norm of their scores", () => {
    const scored = scoredOf({ mode: "vr", ends: [[1], [1]], lengths: [2, 2], verified: [1, 0] });
    const policy = uniformPolicy(scored.offsets);
    // The second response moves the logits three times as much at its first token: 1 - 2 p + sum p^2.
    policy.sumSquaredProbs.data.fill(0.25);
    policy.logProbs.data.fill(Math.log(0.5));
    policy.sumSquaredProbs.data[scored.offsets[1]!] = 0.75;
    const { advantages } = estimateAdvantages(
      { ...scored, config: withEstimator(scored, "optimal-token-baseline") },
      { groups: groups(2), policy },
    );
    expect(advantages.data[0]).toBeCloseTo(1 - 0.25 / (0.25 + 0.75), 6);
    expect(advantages.data[scored.offsets[1]!]).toBeCloseTo(-0.25, 6);
  });

  function uniformPolicy(offsets: Int32Array) {
    const filled = (value: number) => ({ data: new Float32Array(offsets.at(-1)!).fill(value), offsets });
    return { logProbs: filled(Math.log(0.25)), sumSquaredProbs: filled(0.25) };
  }

  function withEstimator({ config }: Scored, estimator: (typeof ESTIMATORS)[number]) {
    return { ...config, algorithm: { ...config.algorithm, estimator } };
  }

  it.each(ESTIMATORS)("%s gives nothing to a response left out", (estimator) => {
    const scored = scoredOf({
      ...FOUR,
      mask: [1, 1, 1, 0, 0, 0, 1, 1],
      algorithm: { estimator, normalize: "whiten" },
    });
    const values = { data: new Float32Array(8), offsets: scored.offsets };
    const { advantages } = estimateAdvantages(scored, {
      groups: groups(4, 4),
      values,
      greedy: new Float32Array(4),
      policy: uniformPolicy(scored.offsets),
    });
    expect(Array.from(advantages.data.subarray(3, 6))).toEqual([0, 0, 0]);
    expect(advantages.data.every(Number.isFinite)).toBe(true);
    expect(advantages.data.some((value) => value !== 0)).toBe(estimator !== "grpo-passk");
  });

  it("are normalised over the tokens", () => {
    const { data } = estimateAdvantages(scoredOf({ ...TWO, algorithm: { normalize: "whiten" } }), {
      groups: groups(2),
    }).advantages;
    expect(data.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 4);
    expect(data.reduce((a, b) => a + b * b, 0) / (data.length - 1)).toBeCloseTo(1, 4);
  });
});
