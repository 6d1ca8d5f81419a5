import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { row } from "../../lib/index.ts";
import { aggregate } from "../reference/loss.ts";
import { expectClose, expectSameBits, expectZeroWhereMasked } from "../support/compare.ts";
import { permutation, seeded } from "../support/generators.ts";
import { AGGREGATIONS, asInput, batches, compacted, rowsOf, widened } from "./batches.ts";
import { CASES } from "./cases.ts";

const aggregations = fc.constantFrom(...AGGREGATIONS);

it.each([
  "ppoLoss",
  "gspoLoss",
  "gmpoLoss",
  "cispoLoss",
  "sapoLoss",
  "reinforceLoss",
  "gpgLoss",
  "klPenalty",
  "valueLoss",
  "entropyBonus",
])("%s is among the cases of the properties below", (name) => {
  expect(Object.keys(CASES).some((key) => key.startsWith(name))).toBe(true);
});

describe.each(Object.entries(CASES))("losses: %s", (_, { run, terms }) => {
  it("value, sum, count and gradient are the oracle's, whatever the masked-out tokens hold", () => {
    fc.assert(
      fc.property(batches, aggregations, (batch, aggregation) => {
        const input = asInput(batch);
        const result = run(input, { aggregation, groups: batch.groups });
        const oracle = aggregate(terms(batch), batch.masks, { aggregation, groups: batch.groups });
        expectClose([result.loss, result.sum, result.count], [oracle.loss, oracle.sum, oracle.count]);
        expectClose(result.gradient.data, oracle.gradient);
        expectZeroWhereMasked(result.gradient.data, input.mask);
      }),
      seeded,
    );
  });

  it("masked-out tokens: the same bits as leaving them out", () => {
    fc.assert(
      fc.property(batches, aggregations, (batch, aggregation) => {
        const input = asInput(batch);
        const options = { aggregation, groups: batch.groups };
        const [masked, without] = [run(input, options), run(asInput(compacted(batch)), options)];
        expectSameBits([masked.loss, masked.sum, masked.count], [without.loss, without.sum, without.count]);
        const kept = [...masked.gradient.data].filter((_, i) => input.mask[i] === 1);
        expectSameBits(kept, without.gradient.data);
      }),
      seeded,
    );
  });

  it("permuting rows and groups permutes the gradient and keeps the value", () => {
    const cases = batches.chain((batch) => fc.tuple(fc.constant(batch), permutation(batch.groups.length)));
    fc.assert(
      fc.property(cases, aggregations, ([batch, order], aggregation) => {
        const permuted = rowsOf(batch, order);
        const renamed = permuted.groups.map((group) => `group ${group}`);
        const first = run(asInput(batch), { aggregation, groups: batch.groups });
        const second = run(asInput(permuted), { aggregation, groups: renamed });
        expectClose([second.loss, second.count], [first.loss, first.count]);
        for (const [to, from] of order.entries())
          expectClose(row(second.gradient, to), row(first.gradient, from));
      }),
      seeded,
    );
  });

  it("any split into micro-batches with the global denominator gives the same value, gradient and count", () => {
    const cases = batches.chain((batch) =>
      fc.tuple(
        fc.constant(batch),
        fc.array(fc.constantFrom(0, 1, 2), {
          minLength: batch.groups.length,
          maxLength: batch.groups.length,
        }),
      ),
    );
    fc.assert(
      fc.property(cases, aggregations, ([batch, parts], aggregation) => {
        const lengths = batch.masks.map((mask) => mask.filter((m) => m === 1).length);
        const promptTokens = batch.groups.map((group) =>
          lengths.reduce((sum, length, j) => sum + (batch.groups[j] === group ? length : 0), 0),
        );
        const whole = run(asInput(batch), { aggregation, groups: batch.groups });
        const [sums, gradient] = [{ loss: 0, count: 0 }, [] as [number, number[]][]];
        for (const part of [0, 1, 2]) {
          const rows = parts.flatMap((p, i) => (p === part ? [i] : []));
          if (rows.length === 0) continue;
          const result = run(asInput(rowsOf(batch, rows)), {
            aggregation,
            denominator: whole.count,
            promptTokens: rows.map((i) => promptTokens[i]!),
          });
          sums.loss += result.loss;
          sums.count += result.count;
          for (const [at, i] of rows.entries()) gradient.push([i, [...row(result.gradient, at)]]);
        }
        expectClose([sums.loss], [whole.loss]);
        if (aggregation !== "sum") expectClose([sums.count], [whole.count]);
        const inOrder = gradient.sort(([i], [j]) => i - j).flatMap(([, values]) => values);
        expectClose(inOrder, whole.gradient.data);
      }),
      seeded,
    );
  });

  it("float32 agrees with float64 on the same numbers to 1e-5", () => {
    fc.assert(
      fc.property(batches, aggregations, (batch, aggregation) => {
        const single = asInput(batch, "float32", false);
        const double = {
          logProbs: widened(single.logProbs),
          oldLogProbs: widened(single.oldLogProbs),
          advantages: widened(single.advantages),
          importanceWeights: widened(single.importanceWeights),
          mask: single.mask,
        };
        const options = { aggregation, groups: batch.groups };
        const [narrow, wide] = [run(single, options), run(double, options)];
        // The largest token loss: sums of either sign may cancel.
        const scale = Math.max(1, Math.abs(wide.loss), ...wide.gradient.data.map(Math.abs));
        expectClose([narrow.loss / scale], [wide.loss / scale], 1e-5);
        expectClose(
          [...narrow.gradient.data].map((g) => g / scale),
          [...wide.gradient.data].map((g) => g / scale),
          1e-5,
        );
      }),
      seeded,
    );
  });
});
