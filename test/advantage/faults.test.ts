// Faults that users of other libraries reported, each as the smallest input that showed it.
import { describe, expect, it } from "vitest";
import {
  combineRewards,
  type FloatArray,
  gae,
  grpo,
  grpoPassK,
  klReward,
  opo,
  optimalTokenBaseline,
  placeSteps,
  ragged,
  raggedOffsets,
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  remax,
  rloo,
  row,
  whiten,
} from "../../lib/index.ts";
import { expectClose, expectSameBits, expectZeroWhereMasked } from "../support/compare.ts";

const f64 = (...values: number[]) => Float64Array.from(values);
const oneGroup = (n: number) => new Array<number>(n).fill(0);
const bothTypes = (values: number[]): FloatArray[] => [Float64Array.from(values), Float32Array.from(values)];
const max32 = 3.4028234663852886e38;

describe("advantage: reported faults", () => {
  it("verl P6348: the deviation has no floor: [1, 1.00001] gives -+0.6196", () => {
    // The nearest float32 to 1.00001 is 1.00001001; exactly, the value is 0.5 / (0.1 + sqrt(0.5)).
    expectClose(grpo(Float32Array.of(1, 1.00001), oneGroup(2)).advantages, [-0.6196, 0.6196], 1e-5);
    expectClose(grpo(f64(1, 1.00001), oneGroup(2)).advantages, [-0.6194967, 0.6194967], 1e-7);
    for (const rewards of bothTypes([10000, 10001, 10002, 10003])) {
      expectClose(grpo(rewards, oneGroup(4)).advantages, [-1.161894, -0.387298, 0.387298, 1.161894], 1e-6);
      expectClose(rloo(rewards, oneGroup(4)).advantages, [-2, -2 / 3, 2 / 3, 2], 1e-7);
    }
  });

  it("verl P4597: identical rewards give exactly 0", () => {
    for (const rewards of bothTypes(new Array(8).fill(0.2))) {
      const zeros = new Array(8).fill(0);
      const { advantages, stats } = rloo(rewards, oneGroup(8));
      expect([...advantages]).toEqual(zeros);
      expect(stats.zeroVariance).toBe(1);
      for (const std of ["group", "batch", "none"] as const)
        expect([...grpo(rewards, oneGroup(8), { std, epsilon: 0 }).advantages]).toEqual(zeros);
      expect([...opo(rewards, [1, 2, 3, 4, 5, 6, 7, 8], oneGroup(8)).advantages]).toEqual(zeros);
      const tokens = placeTokens(rewards);
      for (const baseline of ["outcome", "return"] as const)
        expect(rloo(tokens, oneGroup(8), { baseline }).advantages.data.every((a) => a === 0)).toBe(true);
      expect(whiten({ data: rewards, offsets: raggedOffsets([8]) }).data.every((a) => a === 0)).toBe(true);
    }
  });

  // Each reward on the last token of a response of another length.
  function placeTokens(rewards: FloatArray) {
    const rows = Array.from(rewards, (reward, i) => [...new Array<number>(i).fill(0), reward]);
    return ragged(rows, rewards instanceof Float32Array ? "float32" : "float64");
  }

  it("verl P7581, P7794: one singleton policy on every path", () => {
    const paths = (singleton: "zero" | "raw") => [
      rloo(f64(0.7), [0], { singleton }).advantages[0],
      grpo(f64(0.7), [0], { singleton, std: "none" }).advantages[0],
      opo(f64(0.7), [3], [0], { singleton }).advantages[0],
      grpoPassK(f64(0.7), [0], { singleton, std: "none" }).advantages[0],
      rloo(ragged([[0.7]]), [0], { singleton }).advantages.data[0],
      rloo({ rewards: ragged([[0.7]]), stepEnds: ragged([[0]], "int32"), offsets: raggedOffsets([1]) }, [0], {
        singleton,
      }).advantages.data[0],
      reinforcePlusPlusBaseline(f64(0.7), [0], raggedOffsets([1]), { singleton, whiten: false }).advantages
        .data[0],
      optimalTokenBaseline(ragged([[0.7]]), {
        groups: [0],
        logProbs: ragged([[-1]]),
        sumSquaredProbs: ragged([[0.5]]),
        singleton,
      }).advantages.data[0],
    ];
    expect(new Set(paths("zero"))).toEqual(new Set([0]));
    expect(new Set(paths("raw"))).toEqual(new Set([0.7]));
    expectClose(grpo(f64(0.7), [0], { singleton: "raw" }).advantages, [0.7 / (1 + 1e-6)]);
  });

  it("verl I7278, P6376: the reward behind a tool span reaches the tokens before it", () => {
    const options = { mask: Uint8Array.of(1, 0, 1), gamma: 0.5, whiten: false };
    const { returns } = reinforcePlusPlus(ragged([[0, Number.NaN, 1]]), options);
    expect([...returns.data]).toEqual([0.5, 0, 1]);
  });

  it("verl P782: nothing counted gives 0, not 0 / 0", () => {
    const nothing = ragged([[Number.NaN, Number.NaN], []]);
    const mask = new Uint8Array(2);
    const results = [
      whiten(nothing, { mask }),
      rloo(nothing, [0, 0], { mask }).advantages,
      gae(nothing, nothing, { mask }).advantages,
      reinforcePlusPlus(nothing, { mask }).advantages,
      combineRewards({ process: nothing, verifiable: f64(0, 0), mask }),
    ];
    for (const { data } of results) expectSameBits(data, [0, 0]);
  });

  it("verl: ids are compared as given: '01' is not '1', 1 is not '1', large ids cost nothing", () => {
    const groups = ["01", "1", "01", "1", 1, 1, 2 ** 40, 2 ** 40];
    const { advantages, stats } = rloo(f64(1, 5, 3, 9, 0, 1, 0, 2), groups);
    expect([...advantages]).toEqual([-2, -4, 2, 4, -1, 1, -2, 2]);
    expect(stats.groups).toBe(4);
  });

  it("TRL I3750: the reward stands on the last valid token, at full width and below", () => {
    const rewards = combineRewards({
      process: ragged([[0, 0, 0], [0, 0], []]),
      verifiable: f64(1, 1, 1),
      verifiableCoding: "zero-one",
    });
    expect([...rewards.data]).toEqual([0, 0, 1, 0, 1]);
  });

  it("TRL P1536: a truncated response is bootstrapped, a finished one is not", () => {
    const rewards = ragged([[0], [0]]);
    const values = ragged([[0.5], [0.5]]);
    expectClose(gae(rewards, values, { bootstrapValues: f64(0.75, 0) }).advantages.data, [0.25, -0.5]);
  });

  it("TRL P6365: groups without variance are counted", () => {
    expect(grpo(f64(1, 1, 0, 1, 5), ["a", "a", "b", "b", "c"]).stats).toEqual({
      groups: 3,
      singletons: 1,
      zeroVariance: 1,
      excluded: 0,
    });
  });

  it("OpenRLHF P1240: NaN in a masked token poisons nothing", () => {
    const rewards = ragged([
      [0, Number.NaN, 1],
      [0, 0],
    ]);
    const mask = Uint8Array.of(1, 0, 1, 1, 1);
    const { advantages } = rloo(rewards, [0, 0], { mask });
    expect([...advantages.data]).toEqual([1, 0, 1, -1, -1]);
  });

  it("OpenRLHF P1239: responses without a token do not count in the baseline", () => {
    const rewards = ragged([[1], [0], []]);
    for (const baseline of ["outcome", "return", "step", "token"] as const)
      expect([...rloo(rewards, [0, 0, 0], { baseline }).advantages.data]).toEqual([1, -1]);
  });

  it("OpenRLHF I238: nothing forces a token: inputs are never written", () => {
    const rewards = ragged([
      [0.5, 1],
      [0.25, 0],
    ]);
    const before = { ...rewards, data: rewards.data.slice() };
    rloo(rewards, [0, 0]);
    gae(rewards, rewards);
    whiten(rewards);
    reinforcePlusPlus(rewards);
    remax(rewards, f64(1, 1));
    combineRewards({ process: rewards, verifiable: f64(1, 0) });
    klReward(rewards, rewards, { coefficient: 1 });
    expectSameBits(rewards.data, before.data);
  });

  it("OpenRLHF: group_norm of eight rewards of 0.2 is 0 at any epsilon", () => {
    for (const epsilon of [1e-4, 1e-6, 1e-9, 0])
      expect(grpo(Float32Array.from(new Array(8).fill(0.2)), oneGroup(8), { epsilon }).advantages[7]).toBe(0);
  });

  it("NeMo P4161: no residue of a deviation: [.35 x 7, 0] gives the last one -.35", () => {
    for (const rewards of bothTypes([...new Array<number>(7).fill(0.35), 0])) {
      const { advantages } = rloo(rewards, oneGroup(8));
      expectClose(advantages, [...new Array<number>(7).fill(0.05), -0.35], 1e-7);
      expect(Math.abs(grpo(rewards, oneGroup(8)).advantages[7]!)).toBeLessThan(2.5);
    }
  });

  it("SkyRL I1305: padding holding junk changes nothing", () => {
    const [clean, junk] = [0, 1e30].map((filler) => {
      const rewards = ragged([
        [1, filler, filler],
        [0, 0.5, filler],
      ]);
      const mask = Uint8Array.of(1, 0, 0, 1, 1, 0);
      return [rloo(rewards, [0, 0], { mask }).advantages.data, whiten(rewards, { mask }).data];
    });
    for (const [i, values] of junk!.entries()) expectSameBits(values, clean![i]!);
  });

  it("slime P1372: the KL of masked tokens costs nothing", () => {
    const kl = ragged([[1, 100, 1]]);
    const mask = Uint8Array.of(1, 0, 1);
    const rewards = klReward(ragged([[0, 0, 1]]), kl, { coefficient: 0.5, mask });
    expect([...rewards.data]).toEqual([-0.5, 0, 0.5]);
    expectZeroWhereMasked(rewards.data, mask);
  });

  it("PURE I20: the padded width is no part of the baseline", () => {
    const narrow = rloo(ragged([[0, 1], [0.5]]), [0, 0]).advantages;
    const wide = rloo(
      ragged([
        [0, 1, 9, 9],
        [0.5, 9, 9, 9],
      ]),
      [0, 0],
      { mask: Uint8Array.of(1, 1, 0, 0, 1, 0, 0, 0) },
    ).advantages;
    expectSameBits(row(wide, 0).subarray(0, 2), row(narrow, 0));
    expectSameBits(row(wide, 1).subarray(0, 1), row(narrow, 1));
  });

  it("PURE I2: at equal outcome and length the token baseline favours no number of steps", () => {
    const offsets = raggedOffsets([6, 6]);
    const stepEnds = ragged([[5], [0, 2, 5]], "int32");
    const values = ragged([[0.3], [0.1, 0.1, 0.1]]);
    const { advantages } = rloo({ rewards: values, stepEnds, offsets }, [0, 0], { baseline: "token" });
    expectClose([row(advantages, 0)[0]!, row(advantages, 1)[0]!], [0, 0]);
    const onTokens = rloo(placeSteps(values, stepEnds, offsets), [0, 0], { baseline: "token", stepEnds });
    expectClose(onTokens.advantages.data, advantages.data);
  });
});

describe("advantage: extreme magnitudes", () => {
  it("rewards of 1e308 neither overflow nor cancel", () => {
    const rewards = f64(1e308, -1e308, 1e308, -1e308);
    expectClose(grpo(rewards, oneGroup(4)).advantages, [0.866025, -0.866025, 0.866025, -0.866025], 1e-6);
    expectClose(
      grpo(rewards, oneGroup(4), { std: "batch" }).advantages,
      [0.866025, -0.866025, 0.866025, -0.866025],
      1e-6,
    );
    expectClose(
      rloo(rewards, oneGroup(4)).advantages.map((a) => a / 1e308),
      [4 / 3, -4 / 3, 4 / 3, -4 / 3],
    );
    expectClose(
      whiten({ data: rewards, offsets: raggedOffsets([4]) }).data,
      [0.866025, -0.866025, 0.866025, -0.866025],
      1e-6,
    );
    const beyond = rloo(f64(1.7e308, -1.7e308), oneGroup(2)).advantages;
    expect([...beyond]).toEqual([Number.MAX_VALUE, -Number.MAX_VALUE]);
    expect([...rloo(Float32Array.of(3e38, -3e38), oneGroup(2)).advantages]).toEqual([max32, -max32]);
  });

  it("rewards of 1e-308 are not rounded away", () => {
    const rewards = f64(1e-308, 3e-308, 1e-308, 3e-308);
    const scaled = (values: Float64Array) => values.map((value) => value * 1e308);
    expectClose(scaled(rloo(rewards, oneGroup(4)).advantages), [-4 / 3, 4 / 3, -4 / 3, 4 / 3], 1e-12);
    expectClose(
      grpo(rewards, oneGroup(4), { epsilon: 0 }).advantages,
      [-0.866025, 0.866025, -0.866025, 0.866025],
      1e-6,
    );
    expectClose(
      grpo(rewards, oneGroup(4)).advantages.map((a) => a * 1e302),
      [-1, 1, -1, 1],
      1e-9,
    );
    const flat = { data: rewards, offsets: raggedOffsets([4]) };
    expectClose(whiten(flat, { epsilon: 0 }).data, [-0.866025, 0.866025, -0.866025, 0.866025], 1e-6);
    const { advantages } = rloo(ragged([[0, 1e-308], [3e-308]]), [0, 0]);
    expectClose(scaled(advantages.data), [-2, -2, 2], 1e-12);
  });

  it("sums of token rewards that leave float64 saturate", () => {
    const rewards = ragged([
      [1e308, 1e308, 1e308],
      [-1e308, -1e308, -1e308],
    ]);
    for (const baseline of ["outcome", "return", "step", "token"] as const) {
      const { advantages, returns } = rloo(rewards, [0, 0], { baseline });
      for (const value of [...advantages.data, ...returns.data]) expect(Number.isFinite(value)).toBe(true);
      expect([...advantages.data].map(Math.sign)).toEqual([1, 1, 1, -1, -1, -1]);
    }
    for (const lambda of [0, 0.5, 1]) {
      const { advantages, returns } = gae(rewards, rewards, { lambda });
      for (const value of [...advantages.data, ...returns.data]) expect(Number.isFinite(value)).toBe(true);
    }
    for (const gamma of [0, 1]) {
      const { advantages, returns } = reinforcePlusPlus(rewards, { gamma });
      for (const value of [...advantages.data, ...returns.data]) expect(Number.isFinite(value)).toBe(true);
    }
  });

  it("the mean return of huge returns does not overflow", () => {
    const rewards = ragged([[0, 0, 0, 0.5e308], [0, 0, 0, -1e308, 0, 0, 0, 0.5e308], [0.25e308]]);
    const { advantages } = rloo(rewards, [0, 0, 0]);
    // Mean returns 0.5e308, 0 and 0.25e308 over 4, 8 and 1 tokens; the differences in the second sum to -4e308.
    const expected = [
      ...new Array<number>(4).fill(0.5 - 0.25 / 9),
      ...new Array<number>(4).fill(-0.5 - 2.25 / 5),
      ...new Array<number>(4).fill(0.5 - 2.25 / 5),
      0.25 - 2 / 12,
    ];
    expectClose(
      advantages.data.map((a) => a / 1e308),
      expected,
    );
  });
});
