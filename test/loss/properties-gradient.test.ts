// Gradients: central differences, and what flows at the log-ratio clamp.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entropyBonus, gmpoLoss, gspoLoss, klPenalty, ppoLoss, ragged, sapoLoss } from "../../lib/index.ts";
import { expectClose, expectGradient } from "../support/compare.ts";
import { seeded } from "../support/generators.ts";
import { AGGREGATIONS, asInput, batches } from "./batches.ts";
import { type Case, CASES } from "./cases.ts";

const aggregations = fc.constantFrom(...AGGREGATIONS);

describe("losses: analytic gradients match central differences", () => {
  const differentiable: Record<string, Case["run"]> = Object.fromEntries(
    Object.entries(CASES)
      .filter(([name]) => !/gspo|cispo|klPenalty|entropyBonus/.test(name))
      .map(([name, { run }]) => [name, run]),
  );
  for (const estimator of ["k1", "k2", "k3", "abs"] as const) {
    for (const gradient of ["same", "importance"] as const) {
      const name = `klPenalty ${estimator}, gradient ${gradient}`;
      differentiable[name] = CASES[name]!.run;
    }
  }
  // With one advantage per response and sequence means, GSPO's token form is the derivative of its value.
  differentiable.gspoLoss = ({ logProbs, oldLogProbs, advantages, mask }) => {
    const first = Array.from(advantages.offsets.subarray(0, -1), (at) => advantages.data[at] ?? 0);
    const result = gspoLoss({ logProbs, oldLogProbs, advantages: Float64Array.from(first), mask });
    return { ...result, gradient: result.gradLogProbs };
  };

  it.each(Object.entries(differentiable))("%s", (_, run) => {
    fc.assert(
      fc.property(batches, aggregations, (batch, aggregation) => {
        const input = asInput(batch, "float64", false);
        const { offsets } = input.logProbs;
        const options = { aggregation, groups: batch.groups };
        const at = (data: Float64Array) => run({ ...input, logProbs: { data, offsets } }, options);
        const { data } = input.logProbs;
        expectGradient((x) => at(x).loss, data, at(data).gradient.data, 1e-6, 1e-6);
      }),
      seeded,
    );
  });

  it("entropyBonus", () => {
    fc.assert(
      fc.property(batches, aggregations, (batch, aggregation) => {
        const { advantages, mask } = asInput(batch, "float64", false);
        const { offsets } = advantages;
        const at = (data: Float64Array) =>
          entropyBonus({ entropy: { data, offsets }, mask }, { aggregation, groups: batch.groups });
        expectGradient((x) => at(x).loss, advantages.data, at(advantages.data).gradEntropy.data);
      }),
      seeded,
    );
  });
});

describe("losses: the log-ratio clamp", () => {
  it("a clamped token has gradient 0 in the losses that differentiate the ratio, and is counted", () => {
    for (const loss of [ppoLoss, gspoLoss, gmpoLoss, sapoLoss]) {
      for (const d of [2.0001, -2.0001]) {
        const batch = {
          logProbs: ragged([[d, 0]]),
          oldLogProbs: ragged([[0, 0]]),
          advantages: ragged([[d < 0 ? 1 : -1, 1]]),
        };
        const { gradLogProbs, stats } = loss(batch, { logRatioClamp: 2 });
        expect(gradLogProbs.data[0]).toBe(0);
        expect(stats.clampedTokens).toBe(1);
      }
    }
  });

  it("at exactly the clamp the gradient flows, and the token does not count as clamped", () => {
    const batch = { logProbs: ragged([[2]]), oldLogProbs: ragged([[0]]), advantages: ragged([[-1]]) };
    const { gradLogProbs, stats } = ppoLoss(batch, { logRatioClamp: 2 });
    expectClose(gradLogProbs.data, [Math.exp(2)]);
    expect(stats.clampedTokens).toBe(0);
  });

  it("KL: the gradient of a clamped token is the one at the clamp, for every estimator and gradient", () => {
    const one = (d: number, options: object) =>
      klPenalty({ logProbs: ragged([[d]]), refLogProbs: ragged([[0]]) }, options).gradLogProbs.data[0]!;
    for (const estimator of ["k1", "k2", "k3", "abs"] as const) {
      for (const gradient of ["same", "k2"] as const) {
        for (const d of [1000, -1000, Infinity, -Infinity]) {
          const options = { estimator, gradient, logRatioClamp: 3 };
          expect(one(d, options)).toBe(one(Math.sign(d) * 3, options));
        }
      }
    }
  });
});
