import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Credit,
  type FloatArray,
  gammaDecay,
  getNumThreads,
  mean,
  minForm,
  minFormBackward,
  product,
  ragged,
  type Ragged,
  returns,
  row,
  setNumThreads,
  strictMinForm,
  sum,
} from "../../lib/index.ts";
import { expectClose, expectGradient, expectSameBits, expectZeroWhereMasked } from "../support/compare.ts";
import { maskOf, masksFor, permutation, poison, rowsOfNumbers, seeded } from "../support/generators.ts";

type Form = <T extends FloatArray>(rewards: Ragged<T>, options?: { mask?: Uint8Array }) => Credit<T>;

const forms: Record<string, Form> = {
  minForm,
  "minForm at T = 1e-40": (rewards, options) => minForm(rewards, { ...options, temperature: 1e-40 }),
  strictMinForm,
  gammaDecay: (rewards, options) => gammaDecay(rewards, { ...options, gamma: 0.7 }),
  sum,
  mean,
  product,
};
const masked = rowsOfNumbers().chain((rows) => fc.tuple(fc.constant(rows), masksFor(rows)));

describe.each(Object.entries(forms))("credit: %s", (_, form) => {
  it("masked-out steps may hold anything: same bits as leaving them out, and +0 in their place", () => {
    fc.assert(
      fc.property(masked, ([rows, masks]) => {
        const mask = maskOf(masks);
        const credit = form(poison(ragged(rows), mask), { mask });
        const without = form(ragged(rows.map((values, i) => values.filter((_, k) => masks[i]![k] === 1))));
        expectSameBits(
          [...credit.returns.data].filter((_, i) => mask[i] === 1),
          without.returns.data,
        );
        expectSameBits(credit.outcomes, without.outcomes);
        expectZeroWhereMasked(credit.returns.data, mask);
        expectZeroWhereMasked(credit.rewards.data, mask);
      }),
      seeded,
    );
  });

  it("rows are independent: permuting them permutes the result", () => {
    const cases = rowsOfNumbers().chain((rows) => fc.tuple(fc.constant(rows), permutation(rows.length)));
    fc.assert(
      fc.property(cases, ([rows, order]) => {
        const credit = form(ragged(rows));
        const permuted = form(ragged(order.map((i) => rows[i]!)));
        for (const [to, from] of order.entries())
          expectSameBits(row(permuted.returns, to), row(credit.returns, from));
      }),
      seeded,
    );
  });

  it("the reward-to-go of the credited rewards is the return", () => {
    fc.assert(
      fc.property(rowsOfNumbers(), (rows) => {
        const credit = form(ragged(rows));
        expectClose(returns(credit.rewards).data, credit.returns.data, 1e-10);
      }),
      seeded,
    );
  });

  it("gives the same bits for 1 and 3 threads", () => {
    const rewards = ragged(
      Array.from({ length: 700 }, (_, i) => Array.from({ length: i % 40 }, (_, k) => Math.sin(i * 41 + k))),
    );
    const before = getNumThreads();
    setNumThreads(1);
    const alone = form(rewards);
    setNumThreads(3);
    const together = form(rewards);
    setNumThreads(before);
    expectSameBits(together.returns.data, alone.returns.data);
    expectSameBits(together.outcomes, alone.outcomes);
  });

  it("float32 agrees with float64 to 1e-6", () => {
    fc.assert(
      fc.property(rowsOfNumbers(), (rows) => {
        const single = ragged(rows, "float32");
        const double = { data: Float64Array.from(single.data), offsets: single.offsets };
        const reference = form(double);
        expectClose(form(single).returns.data, reference.returns.data, 1e-6);
        expectClose(form(single).outcomes, reference.outcomes, 1e-6);
      }),
      seeded,
    );
  });
});

describe("minForm", () => {
  it("lies between the minimum and the mean, shifts with the rewards and scales with (r, T)", () => {
    fc.assert(
      fc.property(
        rowsOfNumbers({ minLength: 1 }),
        fc.double({ min: 0.01, max: 5, noNaN: true }),
        (rows, factor) => {
          const rewards = ragged(rows);
          const soft = minForm(rewards).outcomes;
          rows.forEach((values, i) => {
            const average = values.reduce((a, b) => a + b, 0) / values.length;
            expect(soft[i]).toBeGreaterThanOrEqual(Math.min(...values) - 1e-12);
            expect(soft[i]).toBeLessThanOrEqual(average + 1e-12);
          });
          const shifted = minForm({
            data: rewards.data.map((r) => r + factor),
            offsets: rewards.offsets,
          }).outcomes;
          expectClose(
            shifted,
            soft.map((value) => value + factor),
            1e-10,
          );
          const scaled = minForm(
            { data: rewards.data.map((r) => r * factor), offsets: rewards.offsets },
            { temperature: 0.1 * factor },
          );
          expectClose(
            scaled.outcomes,
            soft.map((value) => value * factor),
            1e-10,
          );
        },
      ),
      seeded,
    );
  });

  it("gradients match central differences, and masked-out steps get exactly 0", () => {
    fc.assert(
      fc.property(masked, fc.constantFrom(0.3, 1, 4), ([rows, masks], temperature) => {
        const mask = maskOf(masks);
        const rewards = ragged(rows);
        const weight = (i: number) => Math.sin(i + 1);
        const options = { mask, temperature };
        const objective = (data: Float64Array) => {
          const credit = minForm({ data, offsets: rewards.offsets }, options);
          return (
            credit.returns.data.reduce((total, value, i) => total + value * weight(i), 0) +
            credit.rewards.data.reduce((total, value, i) => total + value * weight(i + 3), 0) +
            credit.outcomes.reduce((total, value, i) => total + value * weight(i + 7), 0)
          );
        };
        const at = (values: ArrayLike<number>, shift: number) =>
          Float64Array.from(values, (_, i) => weight(i + shift));
        const gradient = minFormBackward(
          rewards,
          {
            returns: { data: at(rewards.data, 0), offsets: rewards.offsets },
            rewards: { data: at(rewards.data, 3), offsets: rewards.offsets },
            outcomes: at(new Float64Array(rows.length), 7),
          },
          options,
        );
        expectGradient(objective, rewards.data, gradient.data);
        expectZeroWhereMasked(gradient.data, mask);
      }),
      seeded,
    );
  });
});
