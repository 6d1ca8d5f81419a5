// Hand-checked and published values of the advantage estimators.
import { describe, expect, it } from "vitest";
import {
  AdaptiveKlController,
  combineAdvantages,
  combineRewards,
  findStepEnds,
  FixedKlController,
  gae,
  grpo,
  grpoPassK,
  klReward,
  minForm,
  opo,
  optimalTokenBaseline,
  placeSteps,
  ragged,
  raggedOffsets,
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  remax,
  rloo,
  type RlooBaseline,
  row,
  strictMinForm,
  whiten,
} from "../../lib/index.ts";
import { expectClose } from "../support/compare.ts";

const f64 = (...values: number[]) => Float64Array.from(values);
const oneGroup = (n: number) => new Array<number>(n).fill(0);
const log = (rows: number[][]) => ragged(rows.map((values) => values.map(Math.log)));

describe("advantage golden values: outcomes", () => {
  const rewards = f64(1, 0, 0, 1);
  const signs = [1, -1, -1, 1];

  it("one group [1,0,0,1]: GRPO at both epsilons and ddofs, mean only, RLOO", () => {
    const all = (value: number) => signs.map((sign) => sign * value);
    expectClose(grpo(rewards, oneGroup(4)).advantages, all(0.866024), 1e-6);
    expectClose(grpo(rewards, oneGroup(4), { epsilon: 1e-4 }).advantages, all(0.865875), 1e-6);
    expectClose(grpo(rewards, oneGroup(4), { epsilon: 0, ddof: 0 }).advantages, all(1));
    expectClose(grpo(rewards, oneGroup(4), { std: "none" }).advantages, all(0.5));
    expectClose(rloo(rewards, oneGroup(4)).advantages, all(2 / 3));
  });

  it("GRPO over the batch deviation", () => {
    const { advantages } = grpo(f64(1, 0, 3, 3), [0, 0, 1, 1], { std: "batch", epsilon: 0 });
    expectClose(advantages, [0.5 / 1.5, -0.5 / 1.5, 0, 0]); // deviation of [1,0,3,3] with ddof 1 is 1.5
  });

  it("GRPO of a large common offset keeps its digits", () => {
    const { advantages } = grpo(f64(10000, 10001, 10002, 10003), oneGroup(4));
    expectClose(advantages, [-1.161894, -0.387298, 0.387298, 1.161894], 1e-6);
  });

  it("pass@k gives the best its lead; a tie at the top gives 0", () => {
    const lead = (values: number[], std: "group" | "none") =>
      grpoPassK(Float64Array.from(values), oneGroup(values.length), { std }).advantages;
    expectClose(lead([1, 0.25, 0.5], "none"), [0.5, 0, 0]);
    expectClose(lead([1, 0.25, 0.5], "group"), [0.5 / (0.3818813079 + 1e-6), 0, 0], 1e-9);
    expect([...lead([1, 1, 0], "group")]).toEqual([0, 0, 0]);
  });

  it("OPO L=[2,4], r=[1,0]; lengths that are all 0 are a singleton", () => {
    expectClose(opo(f64(1, 0), [2, 4], oneGroup(2)).advantages, [2 / 3, -1 / 3]);
    const empty = opo(f64(1, 0), Int32Array.of(0, 0), oneGroup(2));
    expect([...empty.advantages]).toEqual([0, 0]);
    expect(empty.stats.singletons).toBe(1);
    expect([...opo(f64(1, 0), [0, 0], oneGroup(2), { singleton: "raw" }).advantages]).toEqual([1, 0]);
  });

  it("REINFORCE++ baseline spreads r - mean and whitens over tokens", () => {
    const { advantages, returns } = reinforcePlusPlusBaseline(f64(1, 0), oneGroup(2), raggedOffsets([1, 3]));
    expectClose(returns.data, [0.5, -0.5, -0.5, -0.5]);
    expectClose(advantages.data, [1.5, -0.5, -0.5, -0.5], 1e-7); // mean -0.25, deviation 0.5
  });
});

describe("advantage golden values: tokens", () => {
  it("GAE across a hole equals the compacted response", () => {
    const values = ragged([[0.5, Number.NaN, 0.25, 0.1]]);
    const rewards = ragged([[0, Number.NaN, 0, 1]]);
    const mask = Uint8Array.of(1, 0, 1, 1);
    const { advantages, returns } = gae(rewards, values, { gamma: 0.9, lambda: 0.8, mask });
    expectClose(advantages.data, [0.07636, 0, 0.488, 0.9]);
    expectClose(returns.data, [0.57636, 0, 0.738, 1]);
  });

  it("GAE of a truncated response takes the bootstrap value", () => {
    const values = ragged([[0.5, 0.25, 0.1]]);
    const rewards = ragged([[0, 0, 0]]);
    const at = (bootstrap: number) =>
      gae(rewards, values, { gamma: 0.9, lambda: 0.8, bootstrapValues: f64(bootstrap) }).advantages.data;
    expectClose(at(0.6), [-0.162104, 0.1568, 0.44]);
    expectClose(at(0), [-0.44204, -0.232, -0.1]);
  });

  it("GAE with a lambda of its own for the returns", () => {
    const { advantages, returns } = gae(ragged([[0, 1]]), ragged([[0.5, 0.25]]), {
      lambda: 0,
      valueLambda: 1,
    });
    expectClose(advantages.data, [-0.25, 0.75]);
    expectClose(returns.data, [1, 1]);
  });

  it("optimal token baseline", () => {
    const { advantages } = optimalTokenBaseline(
      ragged([
        [0, 1],
        [0, 0],
      ]),
      {
        groups: oneGroup(2),
        logProbs: log([
          [0.5, 0.5],
          [0.25, 0.5],
        ]),
        sumSquaredProbs: ragged([
          [0.5, 0.5],
          [0.4, 0.5],
        ]),
      },
    );
    expectClose(advantages.data, [0.642857, 0.583333, -0.357143, -0.416667], 1e-6);
  });

  it("optimal token baseline where no logit can move: the plain mean stands in", () => {
    const { advantages } = optimalTokenBaseline(ragged([[1], [0], [0]]), {
      groups: oneGroup(3),
      logProbs: ragged([[0], [0], [0]]),
      sumSquaredProbs: ragged([[1], [1], [1]]),
    });
    expectClose(advantages.data, [2 / 3, -1 / 3, -1 / 3]);
  });

  it("ReMax and REINFORCE++", () => {
    const rewards = ragged([[0, 0.5, 1], [2]]);
    expectClose(remax(rewards, f64(1, 0.5)).advantages.data, [0.5, 0.5, 0, 1.5]);
    expectClose(remax(rewards, f64(1, 0.5)).returns.data, [1.5, 1.5, 1, 2]);
    const plain = reinforcePlusPlus(rewards, { gamma: 0.5, whiten: false });
    expectClose(plain.advantages.data, [0.5, 1, 1, 2]);
    expectClose(reinforcePlusPlus(rewards, { gamma: 0.5 }).advantages.data, whiten(plain.advantages).data);
  });

  it("whiten [1,2 | masked 3]: both ddofs, mean kept, masked token +0", () => {
    const values = ragged([[1, 2, 3]]);
    const mask = Uint8Array.of(1, 1, 0);
    expectClose(whiten(values, { mask }).data, [-Math.SQRT1_2, Math.SQRT1_2, 0], 1e-7);
    expectClose(whiten(values, { mask, ddof: 0 }).data, [-1, 1, 0], 1e-7);
    expectClose(whiten(values, { mask, ddof: 0, shiftMean: false }).data, [0.5, 2.5, 0], 1e-7);
  });
});

describe("advantage golden values: PURE's edge cases", () => {
  const groups = ["g", "g"];
  const tokens = ragged([
    [0, 0, 0.4, 0, 0, 0.2],
    [0, 0, 0, -0.3],
  ]);
  const steps = {
    rewards: ragged([[0.4, 0.2], [-0.3]]),
    stepEnds: ragged([[2, 5], [3]], "int32"),
    offsets: raggedOffsets([6, 4]),
  };
  const both = (baseline: RlooBaseline, countSeparators: boolean) => {
    const options = { baseline, countSeparators };
    return [
      rloo(tokens, groups, { ...options, stepEnds: steps.stepEnds }).advantages,
      rloo(steps, groups, options).advantages,
    ];
  };
  const times = (n: number, value: number) => new Array<number>(n).fill(value);

  it("E9 pooled-return baseline divides by counted tokens", () => {
    const rewards = ragged([
      [0, 0.4, 0, 0.2],
      [0, 0, 0, -0.3],
    ]);
    expectClose(rloo(rewards, groups).advantages.data, [0.9, 0.9, 0.5, 0.5, ...times(4, -0.7)]);
  });

  it("E10 both solved: exactly 0 whatever the lengths and the coding", () => {
    for (const verifiableCoding of ["zero-one", "minus-one-zero"] as const) {
      const process = ragged([times(6, 0), times(4, 0)]);
      const rewards = combineRewards({ process, verifiable: f64(1, 1), verifiableCoding, coefficient: 0.3 });
      for (const baseline of ["outcome", "return"] as const)
        expect([...rloo(rewards, groups, { baseline }).advantages.data]).toEqual(times(10, 0));
    }
  });

  it("E11 step and token baselines", () => {
    for (const advantages of both("step", false))
      expectClose(advantages.data, [...times(3, 1.2), ...times(3, 0.5), ...times(4, -0.6)]);
    for (const advantages of both("token", false))
      expectClose(advantages.data, [...times(3, 0.9), ...times(3, 0.35), ...times(4, -0.6)]);
  });

  it("E11 with the verifiable reward under a baseline of its own", () => {
    const [process] = both("token", false);
    const solved = rloo(f64(0, -1), groups).advantages;
    const advantages = combineAdvantages({ tokens: process!, responses: solved });
    expectClose(advantages.data, [...times(3, 1.9), ...times(3, 1.35), ...times(4, -1.6)]);
  });

  it("E12 one step against two of equal outcome and length", () => {
    const rewards = ragged([
      [0, 0, 0, 0, 0, 0.4],
      [0, 0, 0.2, 0, 0, 0.2],
    ]);
    const stepEnds = ragged([[5], [2, 5]], "int32");
    const initial = (baseline: RlooBaseline, countSeparators?: boolean) => {
      const options = countSeparators === undefined ? {} : { countSeparators };
      const { advantages } = rloo(rewards, groups, { baseline, stepEnds, ...options });
      return [row(advantages, 0)[0]!, row(advantages, 1)[0]!];
    };
    expectClose(initial("step"), [0.2, -0.4]);
    expectClose(initial("token", false), [0.0667, 0.1333], 1e-4);
    expectClose(initial("token"), [0, 0]);
  });

  it("E13 an empty response: the rate per token explodes, minTokens caps it", () => {
    const hacked = {
      rewards: ragged([[0.8], [0.4, 0.2]]),
      stepEnds: ragged([[0], [2, 5]], "int32"),
      offsets: raggedOffsets([1, 6]),
    };
    const options = { baseline: "token", countSeparators: false } as const;
    expectClose(rloo(hacked, groups, options).advantages.data, [0.8, ...times(3, -2.6), ...times(3, -1.4)]);
    const capped = rloo(hacked, groups, { ...options, minTokens: 8 }).advantages.data;
    expectClose(capped, [0.8, ...times(3, 0.2), ...times(3, 0)]); // 0.8 over 8 tokens is 0.1 a token
  });

  it("E14 a group of one: 0, raw or an error, never NaN; siblings without tokens are no siblings", () => {
    for (const rewards of [ragged([[0, 1]]), ragged([[0, 1], []])]) {
      const ids = oneGroup(rewards.offsets.length - 1);
      for (const baseline of ["outcome", "return", "step", "token"] as const) {
        const zero = rloo(rewards, ids, { baseline });
        expect([...zero.advantages.data]).toEqual([0, 0]);
        expect(zero.stats).toEqual({ groups: 1, singletons: 1, zeroVariance: 0, excluded: 0 });
        expect([...rloo(rewards, ids, { baseline, singleton: "raw" }).advantages.data]).toEqual([1, 1]);
        expect(() => rloo(rewards, ids, { baseline, singleton: "error" })).toThrow(/row 0 alone in group 0/);
      }
    }
  });

  it("E15 consecutive separators: the second step has no token to be charged for", () => {
    const ids = ragged(
      [
        [5, 9, 9, 5],
        [5, 5],
      ],
      "int32",
    );
    const { stepEnds } = findStepEnds(ids, { separators: [9] });
    const rewards = { rewards: ragged([[0, 0, 0], [1]]), stepEnds, offsets: ids.offsets };
    const { advantages } = rloo(rewards, groups, { baseline: "token", countSeparators: false });
    // The sibling's rate is 1/2 per token; steps of 1, 0 and 0 tokens besides their last.
    expectClose(row(advantages, 0), [-0.5, -0.5, 0, 0]);
  });

  it("E15 truncated on a separator: that step counts once", () => {
    const ids = ragged(
      [
        [5, 9],
        [5, 5],
      ],
      "int32",
    );
    const { stepEnds } = findStepEnds(ids, { separators: [9] });
    const rewards = { rewards: ragged([[0.5], [1]]), stepEnds, offsets: ids.offsets };
    expectClose(rloo(rewards, groups, { baseline: "step" }).advantages.data, [-0.5, -0.5, 0.5, 0.5]);
  });

  it("E16 the verifiable reward is no step of the min-form", () => {
    const stepEnds = ragged([[2, 5]], "int32");
    const credit = strictMinForm(ragged([[-0.5, 0.8]])).rewards;
    const process = placeSteps(credit, stepEnds, raggedOffsets([6]));
    const combine = (solved: number) =>
      combineRewards({ process, verifiable: f64(solved), verifiableCoding: "zero-one" });
    const onTokens = (solved: number) =>
      rloo(combine(solved), [0], { singleton: "raw", baseline: "outcome" }).returns.data;
    expectClose(onTokens(0), [...times(3, -0.5), ...times(3, 0.8)]);
    expectClose(onTokens(1), [...times(3, 0.5), ...times(3, 1.8)]);
  });

  it("E17 exact zeros count in the whitening", () => {
    const whitened = whiten(ragged([[0, 0, 3]]), { ddof: 0, epsilon: 0 }).data;
    expectClose(whitened, [-Math.SQRT1_2, -Math.SQRT1_2, Math.SQRT2]);
  });

  it("E18 zeros are +0", () => {
    const zeros = [
      ...rloo(ragged([[-0, -0], [-0]]), groups).advantages.data,
      ...rloo(f64(-0, -0), groups).advantages,
      ...klReward(ragged([[-0]]), ragged([[0]]), { coefficient: 1 }).data,
      ...whiten(ragged([[-0, -0]])).data,
    ];
    for (const value of zeros) expect(Object.is(value, 0)).toBe(true);
  });
});

describe("reward streams", () => {
  it("codes, places and scales the verifiable reward; NaN adds nothing", () => {
    const process = ragged([[0.5, 0.5], [0.5, 0.5, 0.5], [0.5], []]);
    const verifiable = f64(1, 0, Number.NaN, 1);
    const combined = (options: object) => [...combineRewards({ process, verifiable, ...options }).data];
    expect(combined({})).toEqual([0.5, 0.5, 0.5, 0.5, -0.5, 0.5]);
    expect(combined({ verifiableCoding: "zero-one", coefficient: 2 })).toEqual([
      0.5, 2.5, 0.5, 0.5, 0.5, 0.5,
    ]);
    expect(combined({ place: "every" })).toEqual([0.5, 0.5, -0.5, -0.5, -0.5, 0.5]);
    const mask = Uint8Array.of(1, 0, 1, 1, 0, 1);
    expect(combined({ mask, verifiableCoding: "zero-one" })).toEqual([1.5, 0, 0.5, 0.5, 0, 0.5]);
  });

  it("joins the last step when the process rewards stand on steps", () => {
    const { rewards } = minForm(ragged([[0.8, 0.8]]));
    expectClose(combineRewards({ process: rewards, verifiable: f64(0) }).data, [0.4, -0.6]);
  });

  it("KL before and after the baseline", () => {
    const rewards = ragged([
      [0, 1],
      [0, 0],
    ]);
    const values = ragged([
      [0.5, 0.25],
      [1, 1],
    ]);
    const at = (placement: "before" | "after") =>
      rloo(rewards, [0, 0], { baseline: "outcome", kl: { values, coefficient: 0.1, placement } });
    expectClose(at("before").advantages.data, [0.925 + 0.2, 0.975 + 0.2, -0.2 - 0.925, -0.1 - 0.925]);
    expectClose(at("after").advantages.data, [0.925, 0.975, -0.2 - 1, -0.1 - 1]);
    expectClose(at("before").returns.data, [0.925, 0.975, -0.2, -0.1]);
    expectClose(at("after").returns.data, at("before").returns.data);
    const penalised = klReward(rewards, values, { coefficient: 0.1 });
    const same = rloo(penalised, [0, 0], { baseline: "outcome" });
    expectClose(at("before").advantages.data, same.advantages.data);
  });

  it("KL controllers", () => {
    const adaptive = new AdaptiveKlController({ initial: 0.1, target: 6, horizon: 1000 });
    expectClose([adaptive.update(6.6, 100)], [0.1 * 1.01]);
    expectClose([adaptive.update(60, 100)], [0.101 * 1.02]); // the error is clipped at 0.2
    expectClose([adaptive.update(-60, 100), adaptive.coefficient], [0.10302 * 0.98, 0.10302 * 0.98]);
    expect(new FixedKlController(0.05).update()).toBe(0.05);
  });
});
