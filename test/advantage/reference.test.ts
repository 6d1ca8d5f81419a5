// Kernels against the plain float64 oracle, on random batches.
import fc from "fast-check";
import { describe, it } from "vitest";
import {
  gae,
  grpo,
  grpoPassK,
  opo,
  optimalTokenBaseline,
  ragged,
  reinforcePlusPlus,
  remax,
  rloo,
  type RlooBaseline,
  whiten,
} from "../../lib/index.ts";
import * as reference from "../reference/advantage.ts";
import { expectClose } from "../support/compare.ts";
import { groupsFor, maskOf, rowsOfNumbers, seeded } from "../support/generators.ts";
import { batches } from "./cases.ts";

const outcomes = rowsOfNumbers({ maxRows: 1, maxLength: 16, minLength: 1 }).chain(([rewards]) =>
  fc.tuple(fc.constant(rewards!), groupsFor(rewards!)),
);

describe("advantage against the oracle", () => {
  it("outcomes", () => {
    fc.assert(
      fc.property(outcomes, ([rewards, groups]) => {
        const r = Float64Array.from(rewards);
        const lengths = rewards.map((_, i) => (i * 5) % 4);
        expectClose(rloo(r, groups).advantages, reference.rlooOutcomes(rewards, groups), 1e-12);
        for (const std of ["group", "batch", "none"] as const) {
          for (const ddof of [0, 1] as const) {
            const options = { std, ddof, epsilon: 1e-3 };
            expectClose(grpo(r, groups, options).advantages, reference.grpo(rewards, groups, options), 1e-9);
          }
        }
        expectClose(grpoPassK(r, groups).advantages, reference.passK(rewards, groups), 1e-7);
        expectClose(
          grpoPassK(r, groups, { std: "none" }).advantages,
          reference.passK(rewards, groups, "none"),
        );
        expectClose(opo(r, lengths, groups).advantages, reference.opo(rewards, lengths, groups), 1e-12);
      }),
      seeded,
    );
  });

  it("rloo on tokens: every baseline, separator rule and KL placement", () => {
    const baselines = fc.constantFrom<RlooBaseline>("outcome", "return", "step", "token");
    const placements = fc.constantFrom(undefined, "before" as const, "after" as const);
    const flags = fc.record({ countSeparators: fc.boolean(), steps: fc.boolean() });
    fc.assert(
      fc.property(batches, baselines, placements, flags, (batch, baseline, placement, flag) => {
        const { countSeparators, steps } = flag;
        const kl = placement && { values: batch.kl, coefficient: 0.4, placement };
        const expected = reference.rlooTokens(batch.rows, batch.groups, {
          baseline,
          mask: batch.masks,
          countSeparators,
          minTokens: 2,
          ...(steps ? { stepEnds: batch.stepEnds } : {}),
          ...(kl ? { kl } : {}),
        });
        const got = rloo(ragged(batch.rows), batch.groups, {
          baseline,
          mask: maskOf(batch.masks),
          countSeparators,
          minTokens: 2,
          ...(steps ? { stepEnds: ragged(batch.stepEnds, "int32") } : {}),
          ...(kl ? { kl: { ...kl, values: ragged(batch.kl) } } : {}),
        });
        expectClose(got.advantages.data, expected.advantages.flat(), 1e-11);
        expectClose(got.returns.data, expected.returns.flat(), 1e-11);
      }),
      { ...seeded, numRuns: 300 },
    );
  });

  it("gae, reward-to-go and whitening", () => {
    fc.assert(
      fc.property(batches, fc.constantFrom(0, 0.5, 1), (batch, bootstrap) => {
        const mask = maskOf(batch.masks);
        const { rows, kl } = batch;
        const options = { gamma: 0.9, lambda: 0.7 };
        const rewards = ragged(rows);
        const bootstrapValues = new Float64Array(rows.length).fill(bootstrap);
        const got = gae(rewards, ragged(kl), { ...options, bootstrapValues, mask });
        const oracle = (lambda: number) =>
          rows.flatMap((row, i) =>
            reference.gaeRow(row, kl[i]!, batch.masks[i]!, { gamma: 0.9, lambda, bootstrap }),
          );
        expectClose(got.advantages.data, oracle(0.7), 1e-11);
        const separate = gae(rewards, ragged(kl), { ...options, valueLambda: 0.3, bootstrapValues, mask });
        expectClose(separate.advantages.data, got.advantages.data, 0);
        const values = kl.flat().map((value, i) => (mask[i] === 1 ? value : 0));
        expectClose(
          separate.returns.data,
          oracle(0.3).map((a, i) => a + values[i]!),
          1e-11,
        );
        const toGo = rows.flatMap((row, i) => reference.toGo(row, batch.masks[i]!, 0.9));
        const plus = reinforcePlusPlus(rewards, { gamma: 0.9, mask });
        expectClose(plus.returns.data, toGo, 1e-11);
        expectClose(plus.advantages.data, reference.whiten(toGo, [...mask]), 1e-6);
        const best = remax(rewards, bootstrapValues, { mask }).advantages.data;
        const outcome = rows.flatMap((row, i) => reference.toGo(row, batch.masks[i]!));
        expectClose(
          best,
          outcome.map((g, i) => (mask[i] === 1 ? g - bootstrap : 0)),
          1e-11,
        );
        for (const shiftMean of [true, false]) {
          for (const ddof of [0, 1] as const) {
            const rule = { shiftMean, ddof, epsilon: 1e-4 };
            expectClose(
              whiten(rewards, { ...rule, mask }).data,
              reference.whiten(rows.flat(), [...mask], rule),
              1e-9,
            );
          }
        }
      }),
      seeded,
    );
  });

  it("optimal token baseline", () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const logProbs = batch.kl.map((row) => row.map((x) => (x > 0.9 ? Number.NEGATIVE_INFINITY : x - 1)));
        const sumSquares = batch.kl.map((row) => row.map((x) => Math.abs(x)));
        const got = optimalTokenBaseline(ragged(batch.rows), {
          groups: batch.groups,
          logProbs: ragged(logProbs),
          sumSquaredProbs: ragged(sumSquares),
          mask: maskOf(batch.masks),
          gamma: 0.9,
        });
        const expected = reference.optimalTokenBaseline(
          batch.rows,
          logProbs,
          sumSquares,
          batch.groups,
          batch.masks,
          0.9,
        );
        expectClose(got.advantages.data, expected.flat(), 1e-10);
      }),
      seeded,
    );
  });

  it("whitening of more than one block", () => {
    const values = Array.from({ length: 20_000 }, (_, i) => Math.sin(i * i) + (i < 7000 ? 5 : -2));
    const mask = values.map((_, i) => (i % 5 === 2 ? 0 : 1));
    expectClose(
      whiten(ragged([values]), { mask: Uint8Array.from(mask) }).data,
      reference.whiten(values, mask),
      1e-11,
    );
  });
});
