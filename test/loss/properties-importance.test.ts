import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { importanceWeights, ragged, row } from "../../lib/index.ts";
import { weightsOf } from "../reference/loss.ts";
import { expectClose, expectSameBits, expectZeroWhereMasked } from "../support/compare.ts";
import { maskOf, permutation, seeded } from "../support/generators.ts";
import { asInput, batches, compacted, type RandomBatch, rowsOf, widened } from "./batches.ts";

describe("importanceWeights", () => {
  const options = fc.record({
    correction: fc.constantFrom("truncate" as const, "mask" as const),
    level: fc.constantFrom("token" as const, "sequence-sum" as const, "sequence-mean" as const),
    min: fc.constantFrom(0, 0.76),
    max: fc.constantFrom(1.23, 2.01),
    normalize: fc.boolean(),
  });

  it("weights and kept are the oracle's, whatever the masked-out tokens hold", () => {
    fc.assert(
      fc.property(batches, options, (batch, how) => {
        const { logProbs: oldLogProbs, oldLogProbs: rolloutLogProbs, mask } = asInput(batch);
        const result = importanceWeights({ oldLogProbs, rolloutLogProbs, mask }, how);
        const oracle = weightsOf(batch.logProbs, batch.oldLogProbs, batch.masks, how);
        expectClose(result.weights.data, oracle);
        expectZeroWhereMasked(result.weights.data, mask);
        const rejects = how.correction === "mask";
        expectSameBits(
          result.kept,
          [...mask].map((m, i) => (rejects && oracle[i] === 0 ? 0 : m)),
        );
      }),
      seeded,
    );
  });

  it("permuting rows permutes the weights; leaving masked-out tokens out changes no bit", () => {
    const cases = batches.chain((batch) => fc.tuple(fc.constant(batch), permutation(batch.groups.length)));
    const run = (batch: RandomBatch, how: Parameters<typeof importanceWeights>[1]) => {
      const { logProbs: oldLogProbs, oldLogProbs: rolloutLogProbs, mask } = asInput(batch);
      return importanceWeights({ oldLogProbs, rolloutLogProbs, mask }, how as object as never).weights;
    };
    fc.assert(
      fc.property(cases, options, ([batch, order], how) => {
        const [weights, permuted] = [run(batch, how), run(rowsOf(batch, order), how)];
        for (const [to, from] of order.entries()) expectClose(row(permuted, to), row(weights, from));
        const kept = [...weights.data].filter((_, i) => maskOf(batch.masks)[i] === 1);
        expectSameBits(kept, run(compacted(batch), how).data);
      }),
      seeded,
    );
  });

  it("a split with the global mean gives the same weights", () => {
    fc.assert(
      fc.property(batches, options, (batch, how) => {
        const run = (rows: number[], normalize: boolean | number) => {
          const part = asInput(rowsOf(batch, rows));
          const { logProbs: oldLogProbs, oldLogProbs: rolloutLogProbs, mask } = part;
          return importanceWeights({ oldLogProbs, rolloutLogProbs, mask }, { ...how, normalize });
        };
        const all = batch.groups.map((_, i) => i);
        const whole = run(all, true);
        const mean = whole.stats.meanCorrectedWeight;
        fc.pre(mean > 0);
        const parts = all.flatMap((i) => [...run([i], mean).weights.data]);
        expectClose(parts, whole.weights.data);
      }),
      seeded,
    );
  });

  it("float32 agrees with float64 to 1e-5, log-ratios of any size are finite", () => {
    fc.assert(
      fc.property(batches, options, (batch, how) => {
        const { logProbs, oldLogProbs, mask } = asInput(batch, "float32", false);
        const narrow = importanceWeights({ oldLogProbs: logProbs, rolloutLogProbs: oldLogProbs, mask }, how);
        const wide = importanceWeights(
          { oldLogProbs: widened(logProbs), rolloutLogProbs: widened(oldLogProbs), mask },
          how,
        );
        expectClose(narrow.weights.data, wide.weights.data, 1e-5);
      }),
      seeded,
    );
    for (const level of ["token", "sequence-sum", "sequence-mean"] as const) {
      const { weights } = importanceWeights(
        {
          oldLogProbs: ragged([
            [1000, -1000],
            [Infinity, -Infinity],
            [Infinity, 0],
          ]),
          rolloutLogProbs: ragged([
            [0, 0],
            [0, 0],
            [0, 0],
          ]),
        },
        { correction: "truncate", level, max: 2 },
      );
      expect([...weights.data].every(Number.isFinite)).toBe(true);
    }
  });
});
