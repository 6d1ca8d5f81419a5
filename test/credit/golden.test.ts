// Hand-checked values of min-form credit assignment and of what can go wrong with it.
import { describe, expect, it } from "vitest";
import {
  findStepEnds,
  gammaDecay,
  mean,
  minForm,
  minFormBackward,
  placeSteps,
  product,
  ragged,
  raggedOffsets,
  returns,
  strictMinForm,
  sum,
} from "../../lib/index.ts";
import { expectClose } from "../support/compare.ts";

const steps = ragged([[0.9, -0.2, 0.5]]);

describe("credit golden values", () => {
  it("E1 soft min-form at T = 0.1, 1, 1e-3 and infinity", () => {
    const credit = minForm(steps);
    expectClose(credit.rewards.data, [1.50176e-5, -0.199814456, 4.55518e-4], 1e-9);
    expectClose(credit.outcomes, [-0.199343919], 1e-9);
    expectClose(credit.returns.data, [-0.199343919, -0.199358938, 0.000455518], 1e-9);
    expectClose(minForm(steps, { temperature: 1 }).outcomes, [0.190153], 1e-6);
    expectClose(minForm(steps, { temperature: 1e9 }).outcomes, [0.4], 1e-8);
    expectClose(minForm(steps, { temperature: 1e-3 }).returns.data, [-0.2, -0.2, 0], 1e-12);
  });

  it("E1 extra masked steps change nothing, even NaN", () => {
    const padded = ragged([[Number.NaN, 0.9, -0.2, Number.NEGATIVE_INFINITY, 0.5, Number.NaN]]);
    const credit = minForm(padded, { mask: Uint8Array.of(0, 1, 1, 0, 1, 0) });
    expectClose(credit.outcomes, minForm(steps).outcomes, 0);
  });

  it("E2 strict, sum, discounted sum and mean", () => {
    expectClose(strictMinForm(steps).returns.data, [-0.2, -0.2, 0.5]);
    expectClose(sum(steps).returns.data, [1.2, 0.3, 0.5]);
    expectClose(gammaDecay(steps, { gamma: 0.9 }).returns.data, [1.125, 0.25, 0.5]);
    expectClose(mean(steps).outcomes, [0.4]);
    expectClose(product(steps).returns.data, [-0.09, -0.1, 0.5]);
  });

  it("E3 ties share the weight at every T; strict keeps the value", () => {
    const ties = ragged([[0.8, 0.8]]);
    for (const temperature of [1e-40, 0.1, 1e6]) {
      expectClose(minForm(ties, { temperature }).rewards.data, [0.4, 0.4]);
      expectClose(minForm(ties, { temperature }).returns.data, [0.8, 0.4]);
    }
    expectClose(strictMinForm(ties).returns.data, [0.8, 0.8]);
  });

  it("E4 near ties: distance of the soft minimum from the minimum", () => {
    const gaps = [
      [0.01, 0.00475],
      [0.05, 0.01888],
      [0.1, 0.02689],
      [0.5, 0.00335],
      [1, 4.5e-5],
    ] as const;
    for (const [delta, gap] of gaps) expectClose(minForm(ragged([[0, delta]])).outcomes, [gap], 1e-5);
  });

  it("E5 gradient of the outcome", () => {
    const gradient = minFormBackward(steps, { outcomes: Float64Array.of(1) });
    expectClose(gradient.data, [-0.000167, 1.005627, -0.00546], 1e-6);
  });

  it("E6 strict min-form on tokens keeps positive rewards, whatever the padding", () => {
    const ends = ragged([[2, 5]], "int32");
    const onTokens = (rewards: number[]) => [
      ...placeSteps(strictMinForm(ragged([rewards])).returns, ends, raggedOffsets([6]), { place: "span" })
        .data,
    ];
    expect(onTokens([0.5, 0.8])).toEqual([0.5, 0.5, 0.5, 0.8, 0.8, 0.8]);
    expect(onTokens([-0.5, 0.8])).toEqual([-0.5, -0.5, -0.5, 0.8, 0.8, 0.8]);
  });

  it("E7 no step gives 0; T = 1e-40 gives the one-hot minimum, in both dtypes", () => {
    expect([...minForm(ragged([[], [Number.NaN]]), { mask: Uint8Array.of(0) }).outcomes]).toEqual([0, 0]);
    for (const type of ["float32", "float64"] as const) {
      const credit = minForm(ragged([[0.9, -0.25, 0.5]], type), { temperature: 1e-40 });
      expect([...credit.weights.data]).toEqual([0, 1, 0]);
      expect([...credit.outcomes]).toEqual([-0.25]);
    }
  });

  it("E15 separators in a row, truncation on a separator, EOS inside the set", () => {
    const tokens = ragged([[5, 9, 9, 5], [5, 9], [5, 5], [5, 9, 2], [], [2]], "int32");
    const { stepEnds, separatorTokens } = findStepEnds(tokens, { separators: [9], eos: 2 });
    expect([...stepEnds.offsets]).toEqual([0, 3, 4, 5, 7, 7, 8]);
    expect([...stepEnds.data]).toEqual([1, 2, 3, 1, 1, 1, 2, 0]);
    expect([...separatorTokens]).toEqual([0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1]);
  });

  it("E15 the last step ends at the last counted token", () => {
    const tokens = ragged([[5, 9, 5, 9, 7]], "int32");
    const { stepEnds } = findStepEnds(tokens, { separators: [9], mask: Uint8Array.of(1, 1, 1, 0, 0) });
    expect([...stepEnds.data]).toEqual([1, 2]);
  });

  it("E18 zeros are +0", () => {
    const credit = sum(ragged([[-0, -0]]));
    for (const value of [...credit.rewards.data, ...credit.returns.data, ...credit.outcomes])
      expect(Object.is(value, 0)).toBe(true);
  });

  it("returns pass over a tool span without discount", () => {
    const rewards = ragged([[0, Number.NaN, 1]]);
    expect([...returns(rewards, { gamma: 0.5, mask: Uint8Array.of(1, 0, 1) }).data]).toEqual([0.5, 0, 1]);
  });

  it("gammaDecay by token discounts by the distance of the steps' last tokens", () => {
    const credit = gammaDecay(ragged([[1, 1]]), {
      gamma: 0.5,
      by: "token",
      stepEnds: ragged([[1, 4]], "int32"),
    });
    expectClose(credit.returns.data, [1.125, 1]);
  });

  it("separators zero: the value leaves the flagged tokens only", () => {
    const ends = ragged([[1, 3]], "int32");
    const place = (options: object) => [
      ...placeSteps(ragged([[1, 2]]), ends, raggedOffsets([4]), { place: "span", ...options }).data,
    ];
    expect(place({})).toEqual([1, 1, 2, 2]);
    expect(place({ separators: "zero" })).toEqual([1, 0, 2, 0]);
    expect(place({ separators: "zero", separatorTokens: Uint8Array.of(0, 1, 0, 0) })).toEqual([1, 0, 2, 2]);
  });
});
