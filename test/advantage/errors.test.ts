import { describe, expect, it } from "vitest";
import {
  AdaptiveKlController,
  combineAdvantages,
  combineRewards,
  FixedKlController,
  gae,
  grpo,
  grpoPassK,
  klReward,
  opo,
  optimalTokenBaseline,
  ragged,
  raggedOffsets,
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  remax,
  rloo,
  whiten,
} from "../../lib/index.ts";
import { errorCode } from "../support/compare.ts";

const f64 = (...values: number[]) => Float64Array.from(values);
const tokens = ragged([[0, 1], [0.5]]);
const groups = ["a", "a"];
const stepEnds = ragged([[1], [0]], "int32");
const steps = { rewards: ragged([[1], [0.5]]), stepEnds, offsets: raggedOffsets([2, 1]) };
const kl = { values: tokens, coefficient: 0.1, placement: "before" } as const;
const otb = { groups, logProbs: ragged([[-1, -1], [-1]]), sumSquaredProbs: ragged([[0.5, 0.5], [0.5]]) };
const withNaN = ragged([[0, 1], [Number.NaN]]);
const nan = Number.NaN;

describe("advantage: bad input", () => {
  it("names the argument, row and position of a NaN that counts", () => {
    expect(() => rloo(f64(1, nan), groups)).toThrow(/rewards: expected a finite number at row 1, got NaN/);
    expect(() => rloo(withNaN, groups)).toThrow(/rewards: expected a finite number at row 1, position 0/);
    expect(() => rloo({ ...steps, rewards: ragged([[1], [nan]]) }, groups)).toThrow(
      /rewards.rewards: .*row 1/,
    );
    expect(() => rloo(tokens, groups, { kl: { ...kl, values: withNaN } })).toThrow(/kl.values: .*row 1/);
    expect(() => rloo(f64(1, Infinity), groups, { unscorable: "exclude" })).toThrow(/got Infinity/);
    expect(() => gae(tokens, withNaN)).toThrow(/values: .* row 1, position 0, got NaN/);
    expect(() => gae(tokens, tokens, { bootstrapValues: f64(0, nan) })).toThrow(/bootstrapValues: .*row 1/);
    expect(() => whiten(withNaN)).toThrow(/values: .*row 1/);
    expect(() => remax(withNaN, f64(0, 0))).toThrow(/tokenRewards: .*row 1/);
    expect(() => remax(tokens, f64(0, nan))).toThrow(/baselines: .*row 1/);
    expect(() => reinforcePlusPlus(withNaN)).toThrow(/tokenRewards: .*row 1/);
    expect(() => combineRewards({ process: withNaN, verifiable: f64(1, 1) })).toThrow(/process: .*row 1/);
    expect(() => combineAdvantages({ tokens, responses: f64(1, nan) })).toThrow(/responses: .*row 1/);
    expect(() => combineAdvantages({ tokens: withNaN, responses: f64(1, 1) })).toThrow(/tokens: .*row 1/);
    expect(() => klReward(tokens, withNaN, { coefficient: 1 })).toThrow(/kl: .*row 1/);
    expect(() => klReward(withNaN, tokens, { coefficient: 1 })).toThrow(/rewards: .*row 1/);
    expect(() => optimalTokenBaseline(tokens, { ...otb, logProbs: withNaN })).toThrow(/logProbs: .*row 1/);
    expect(() => optimalTokenBaseline(tokens, { ...otb, sumSquaredProbs: withNaN })).toThrow(
      /sumSquared.*row 1/,
    );
    expect(() => optimalTokenBaseline(withNaN, otb)).toThrow(/tokenRewards: .*row 1/);
  });

  it("names the lonely response under singleton: error, whatever the estimator", () => {
    const policy = { singleton: "error" } as const;
    const lonely = ["a", "b"];
    const calls = [
      () => rloo(f64(1, 2), lonely, policy),
      () => grpo(f64(1, 2), lonely, policy),
      () => grpoPassK(f64(1, 2), lonely, policy),
      () => opo(f64(1, 2), [1, 1], lonely, policy),
      () => rloo(tokens, lonely, policy),
      () => rloo(steps, lonely, policy),
      () => reinforcePlusPlusBaseline(f64(1, 2), lonely, raggedOffsets([1, 1]), policy),
      () => optimalTokenBaseline(tokens, { ...otb, groups: lonely, ...policy }),
    ];
    for (const call of calls) {
      expect(errorCode(call)).toBe("ERR_SINGLETON_GROUP");
      expect(call).toThrow(/row 0 alone in group "a"/);
    }
    expect(() => rloo(f64(1, nan), groups, { ...policy, unscorable: "exclude" })).toThrow(/row 0 alone/);
  });

  it.each([
    ["a plain array of rewards", () => grpo([1, 2] as never, groups), "ERR_ARGUMENT_TYPE"],
    ["rewards that are neither", () => rloo(null as never, groups), "ERR_ARGUMENT_TYPE"],
    ["integer rewards", () => rloo(Int32Array.of(1, 2) as never, groups), "ERR_ARGUMENT_TYPE"],
    ["no responses", () => rloo(f64(), []), "ERR_SHAPE"],
    ["no rows", () => rloo(ragged([]), []), "ERR_SHAPE"],
    ["no groups", () => rloo(f64(1, 2), undefined as never), "ERR_ARGUMENT_TYPE"],
    ["too few groups", () => rloo(f64(1, 2), ["a"]), "ERR_SHAPE"],
    ["too many groups", () => rloo(tokens, ["a", "a", "a"]), "ERR_SHAPE"],
    ["a group id that is NaN", () => rloo(f64(1, 2), [nan, 1]), "ERR_ARGUMENT_TYPE"],
    ["a group id that is no id", () => rloo(f64(1, 2), [{}, 1] as never), "ERR_ARGUMENT_TYPE"],
    [
      "an unknown singleton policy",
      () => rloo(f64(1, 2), groups, { singleton: "one" as never }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "an unknown unscorable policy",
      () => grpo(f64(1, 2), groups, { unscorable: "skip" as never }),
      "ERR_ARGUMENT_VALUE",
    ],
    ["an unknown deviation", () => grpo(f64(1, 2), groups, { std: "all" as never }), "ERR_ARGUMENT_VALUE"],
    [
      "a batch deviation for pass@k",
      () => grpoPassK(f64(1, 2), groups, { std: "batch" as never }),
      "ERR_ARGUMENT_VALUE",
    ],
    ["a negative epsilon", () => grpo(f64(1, 2), groups, { epsilon: -1 }), "ERR_ARGUMENT_VALUE"],
    ["a ddof of 2", () => grpo(f64(1, 2), groups, { ddof: 2 as never }), "ERR_ARGUMENT_VALUE"],
    ["lengths of another count", () => opo(f64(1, 2), [1], groups), "ERR_SHAPE"],
    ["a negative length", () => opo(f64(1, 2), [1, -1], groups), "ERR_ARGUMENT_VALUE"],
    ["lengths that are none", () => opo(f64(1, 2), 3 as never, groups), "ERR_ARGUMENT_TYPE"],
    ["an unknown baseline", () => rloo(tokens, groups, { baseline: "mean" as never }), "ERR_ARGUMENT_VALUE"],
    ["minTokens below 1", () => rloo(tokens, groups, { minTokens: 0 }), "ERR_ARGUMENT_VALUE"],
    ["a short mask", () => rloo(tokens, groups, { mask: new Uint8Array(2) }), "ERR_SHAPE"],
    [
      "an out of another dtype",
      () => rloo(tokens, groups, { out: new Float32Array(3) as never }),
      "ERR_ARGUMENT_TYPE",
    ],
    ["an out of another length", () => rloo(tokens, groups, { out: new Float64Array(2) }), "ERR_SHAPE"],
    [
      "step ends of other rows",
      () => rloo(tokens, groups, { stepEnds: ragged([[0]], "int32") }),
      "ERR_SHAPE",
    ],
    [
      "step ends past the row",
      () => rloo(tokens, groups, { stepEnds: ragged([[2], [0]], "int32") }),
      "ERR_SHAPE",
    ],
    [
      "step ends that fall",
      () => rloo(tokens, groups, { stepEnds: ragged([[1, 0], [0]], "int32") }),
      "ERR_SHAPE",
    ],
    [
      "KL of other rows",
      () => rloo(tokens, groups, { kl: { ...kl, values: ragged([[0], [0, 0]]) } }),
      "ERR_SHAPE",
    ],
    [
      "an unknown KL placement",
      () => rloo(tokens, groups, { kl: { ...kl, placement: "in" as never } }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "a NaN KL coefficient",
      () => rloo(tokens, groups, { kl: { ...kl, coefficient: nan } }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "step rewards of other rows",
      () => rloo({ ...steps, rewards: ragged([[1], [1], []]) }, groups),
      "ERR_SHAPE",
    ],
    [
      "step rewards without rewards",
      () => rloo({ stepEnds, offsets: steps.offsets } as never, groups),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "step rewards without offsets",
      () => rloo({ ...steps, offsets: undefined } as never, groups),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "step ends of another count",
      () => rloo({ ...steps, stepEnds: ragged([[0, 1], [0]], "int32") }, groups),
      "ERR_SHAPE",
    ],
    [
      "step ends past their row",
      () => rloo({ ...steps, stepEnds: ragged([[1], [1]], "int32") }, groups),
      "ERR_SHAPE",
    ],
    [
      "values of another dtype",
      () => gae(tokens, ragged([[0, 0], [0]], "float32") as never),
      "ERR_ARGUMENT_TYPE",
    ],
    ["values of other rows", () => gae(tokens, ragged([[0], [0, 0]])), "ERR_SHAPE"],
    ["a gamma above 1", () => gae(tokens, tokens, { gamma: 1.1 }), "ERR_ARGUMENT_VALUE"],
    ["a negative lambda", () => gae(tokens, tokens, { lambda: -0.1 }), "ERR_ARGUMENT_VALUE"],
    ["a NaN value lambda", () => gae(tokens, tokens, { valueLambda: nan }), "ERR_ARGUMENT_VALUE"],
    [
      "bootstrap values of another count",
      () => gae(tokens, tokens, { bootstrapValues: f64(0) }),
      "ERR_SHAPE",
    ],
    ["a whitening epsilon below 0", () => whiten(tokens, { epsilon: -1 }), "ERR_ARGUMENT_VALUE"],
    ["a fractional ddof", () => whiten(tokens, { ddof: 0.5 as never }), "ERR_ARGUMENT_VALUE"],
    ["baselines of another count", () => remax(tokens, f64(0)), "ERR_SHAPE"],
    [
      "a gamma that is no number",
      () => reinforcePlusPlus(tokens, { gamma: "1" as never }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "token offsets of other rows",
      () => reinforcePlusPlusBaseline(f64(1, 2), groups, raggedOffsets([1])),
      "ERR_SHAPE",
    ],
    [
      "token offsets that fall",
      () => reinforcePlusPlusBaseline(f64(1, 2), groups, Int32Array.of(0, 2, 1)),
      "ERR_SHAPE",
    ],
    [
      "a verifiable reward of 0.5",
      () => combineRewards({ process: tokens, verifiable: f64(0.5, 1) }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "verifiable rewards of another count",
      () => combineRewards({ process: tokens, verifiable: f64(1) }),
      "ERR_SHAPE",
    ],
    [
      "an unknown coding",
      () => combineRewards({ process: tokens, verifiable: f64(1, 1), verifiableCoding: "0/1" as never }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "an unknown place",
      () => combineRewards({ process: tokens, verifiable: f64(1, 1), place: "eos" as never }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "a coefficient that is no number",
      () => combineRewards({ process: tokens, verifiable: f64(1, 1), coefficient: nan }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "KL of another dtype",
      () => klReward(tokens, ragged([[0, 0], [0]], "float32") as never, { coefficient: 1 }),
      "ERR_ARGUMENT_TYPE",
    ],
    ["no KL coefficient", () => klReward(tokens, tokens, {} as never), "ERR_ARGUMENT_VALUE"],
    [
      "no log-probs",
      () => optimalTokenBaseline(tokens, { ...otb, logProbs: undefined } as never),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "a target of 0",
      () => new AdaptiveKlController({ initial: 1, target: 0, horizon: 1 }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "a NaN KL",
      () => new AdaptiveKlController({ initial: 1, target: 1, horizon: 1 }).update(nan, 1),
      "ERR_ARGUMENT_VALUE",
    ],
    ["a negative coefficient", () => new FixedKlController(-1), "ERR_ARGUMENT_VALUE"],
    ["shared memory", () => rloo(new Float64Array(new SharedArrayBuffer(16)), groups), "ERR_ARGUMENT_TYPE"],
    [
      "detached memory",
      () => {
        const rewards = f64(1, 2);
        structuredClone(rewards.buffer, { transfer: [rewards.buffer] });
        return rloo(rewards, groups);
      },
      "ERR_ARGUMENT_TYPE",
    ],
  ])("%s", (_, call, code) => {
    expect(errorCode(call)).toBe(code);
  });
});
