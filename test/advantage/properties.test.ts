import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import {
  getNumThreads,
  grpo,
  placeSteps,
  ragged,
  raggedOffsets,
  rloo,
  type RlooBaseline,
  row,
  setNumThreads,
} from "../../lib/index.ts";
import { expectClose, expectSameBits, expectZeroWhereMasked } from "../support/compare.ts";
import { groupsFor, maskOf, permutation, poison, rowsOfNumbers, seeded } from "../support/generators.ts";
import { batches, compacted, estimators, grouped, offsetsOf, outcomeEstimators, reordered } from "./cases.ts";

// Those whose result depends on numbers per row index, not only on the row.
const byIndex = new Set(["combineAdvantages", "gae", "remax", "reinforcePlusPlusBaseline", "combineRewards"]);

describe.each(Object.entries(estimators))("advantage: %s", (name, estimate) => {
  it("masked-out tokens may hold anything: as if they were not there, and +0 in their place", () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const mask = maskOf(batch.masks);
        const got = estimate(poison(ragged(batch.rows), mask), batch, mask).data;
        const short = compacted(batch);
        const without = estimate(ragged(short.rows), short).data;
        expectClose(
          [...got].filter((_, i) => mask[i] === 1),
          without,
          1e-11,
        );
        expectZeroWhereMasked(got, mask);
      }),
      seeded,
    );
  });

  it.skipIf(byIndex.has(name))("permuting rows permutes the result", () => {
    const cases = batches.chain((batch) => fc.tuple(fc.constant(batch), permutation(batch.rows.length)));
    fc.assert(
      fc.property(cases, ([batch, order]) => {
        const plain = estimate(ragged(batch.rows), batch, maskOf(batch.masks));
        const other = reordered(batch, order);
        const permuted = estimate(ragged(other.rows), other, maskOf(other.masks));
        for (const [to, from] of order.entries()) expectClose(row(permuted, to), row(plain, from), 1e-11);
      }),
      seeded,
    );
  });

  it("float32 agrees with float64 to 2e-6", () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const single = ragged(batch.rows, "float32");
        const rounded = { ...batch, kl: batch.kl.map((values) => values.map(Math.fround)) };
        const double = { data: Float64Array.from(single.data), offsets: single.offsets };
        const mask = maskOf(batch.masks);
        const reference = estimate(double, rounded, mask).data;
        // Whitening divides by the deviation, which may be small beside the rounding of the result's input.
        const scale = Math.max(1, ...Array.from(reference, Math.abs));
        expectClose(
          Array.from(estimate(single, rounded, mask).data, (x) => x / scale),
          Array.from(reference, (x) => x / scale),
          2e-6,
        );
      }),
      seeded,
    );
  });
});

describe.each(Object.entries(grouped))("advantage: %s, by groups", (_, estimate) => {
  it("whole groups may be computed apart: any split by groups gives the same bits", () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const whole = estimate(ragged(batch.rows), batch, maskOf(batch.masks));
        for (const id of new Set(batch.groups)) {
          const order = batch.groups.flatMap((group, i) => (group === id ? [i] : []));
          const part = reordered(batch, order);
          const apart = estimate(ragged(part.rows), part, maskOf(part.masks));
          for (const [to, from] of order.entries()) expectSameBits(row(apart, to), row(whole, from));
        }
      }),
      seeded,
    );
  });
});

describe.each(Object.entries(outcomeEstimators))("advantage on outcomes: %s", (name, estimate) => {
  const cases = rowsOfNumbers({ maxRows: 1, maxLength: 12, minLength: 1 }).chain(([rewards]) =>
    fc.tuple(fc.constant(rewards!), groupsFor(rewards!), permutation(rewards!.length)),
  );

  // The lengths that this test gives opo stay with the index.
  it.skipIf(name === "opo")("permuting responses permutes the result", () => {
    fc.assert(
      fc.property(cases, ([rewards, groups, order]) => {
        const plain = estimate(Float64Array.from(rewards), groups);
        const permuted = estimate(
          Float64Array.from(order, (i) => rewards[i]!),
          order.map((i) => groups[i]!),
        );
        expectClose(
          permuted,
          order.map((i) => plain[i]!),
          1e-9,
        );
      }),
      seeded,
    );
  });

  // Constants that differ from group to group do change the deviation of the batch.
  const shiftable = name !== "grpo over the batch";
  it.runIf(shiftable)("a constant added to the rewards of a group changes nothing", () => {
    fc.assert(
      fc.property(cases, ([values, groups]) => {
        // Multiples of 2^-20, so that the shift itself rounds nothing.
        const rewards = values.map((value) => Math.round(value * 2 ** 20) / 2 ** 20);
        const shift = (i: number) => ({ a: 1024, b: -3, 7: 0.5 })[groups[i]!]!;
        const plain = estimate(Float64Array.from(rewards), groups);
        expectSameBits(
          estimate(
            Float64Array.from(rewards, (r, i) => r + shift(i)),
            groups,
          ),
          plain,
        );
      }),
      seeded,
    );
  });

  it("float32 agrees with float64 to 1e-6", () => {
    fc.assert(
      fc.property(cases, ([rewards, groups]) => {
        const single = Float32Array.from(rewards);
        expectClose(estimate(single, groups), estimate(Float64Array.from(single), groups), 1e-6);
      }),
      seeded,
    );
  });

  it("advantages of a scored group sum to 0, and unscorable responses are as good as absent", () => {
    fc.assert(
      fc.property(cases, ([rewards, groups]) => {
        const options = { unscorable: "exclude" } as const;
        const withHoles = Float64Array.from(rewards, (r, i) => (i % 3 === 1 ? Number.NaN : r));
        const kept = rewards.flatMap((_, i) => (i % 3 === 1 ? [] : [i]));
        const without = grpo(
          Float64Array.from(kept, (i) => rewards[i]!),
          kept.map((i) => groups[i]!),
        );
        const excluded = grpo(withHoles, groups, options);
        expectSameBits(
          kept.map((i) => excluded.advantages[i]!),
          without.advantages,
        );
        expect(excluded.stats.excluded).toBe(rewards.length - kept.length);
        for (const id of new Set(groups)) {
          const own = excluded.advantages.filter((_, i) => groups[i] === id);
          expectClose([own.reduce((a, b) => a + b, 0)], [0], 1e-9);
        }
      }),
      seeded,
    );
  });
});

describe("advantage: step rewards", () => {
  const withKl = fc.constantFrom(undefined, "before" as const, "after" as const);
  const baselines = fc.constantFrom<RlooBaseline>("outcome", "return", "step", "token");

  it("are the token rewards that placeSteps makes of them", () => {
    fc.assert(
      fc.property(batches, baselines, withKl, fc.boolean(), (batch, baseline, placement, countSeparators) => {
        const mask = maskOf(batch.masks);
        const offsets = offsetsOf(batch);
        const stepEnds = ragged(batch.stepEnds, "int32");
        const rewards = ragged(batch.stepEnds.map((ends, i) => ends.map((end) => batch.kl[i]![end]! * 2)));
        const options = {
          baseline,
          countSeparators,
          mask,
          ...(placement === undefined
            ? {}
            : { kl: { values: ragged(batch.kl), coefficient: 0.5, placement } }),
        };
        const fast = rloo({ rewards, stepEnds, offsets }, batch.groups, { ...options, returns: true });
        const placed = placeSteps(rewards, stepEnds, offsets);
        const slow = rloo(placed, batch.groups, { ...options, stepEnds });
        expectClose(fast.advantages.data, slow.advantages.data, 1e-12);
        expectClose(fast.returns.data, slow.returns.data, 1e-12);
        expect(fast.stats).toEqual(slow.stats);
      }),
      seeded,
    );
  });
});

describe("advantage: threads", () => {
  const before = getNumThreads();
  afterAll(() => setNumThreads(before));

  it("1 and 3 threads give the same bits", () => {
    // Large enough for every kernel to be cut in pieces.
    const lengths = Array.from({ length: 24 }, (_, i) => 9000 + 37 * i);
    const offsets = raggedOffsets(lengths);
    const noise = (i: number) => Math.sin(i * 12.9898) * Math.cos(i * 0.37);
    const rows = lengths.map((n, i) =>
      Array.from({ length: n }, (_, t) => (t % 61 === 60 ? noise(offsets[i]! + t) : 0)),
    );
    const batch = {
      rows,
      masks: rows.map((values) => values.map((_, t) => (t % 7 === 3 ? 0 : 1))),
      groups: lengths.map((_, i) => i % 5),
      stepEnds: rows.map((values) => values.flatMap((_, t) => (t % 61 === 60 ? [t] : []))),
      kl: rows.map((values, i) => values.map((_, t) => noise(offsets[i]! + t + 0.5))),
    };
    for (const type of ["float32", "float64"] as const) {
      const rewards = ragged(rows, type);
      for (const mask of [undefined, maskOf(batch.masks)]) {
        for (const estimate of Object.values(estimators)) {
          setNumThreads(1);
          const one = estimate(rewards, batch, mask).data;
          setNumThreads(3);
          expectSameBits(estimate(rewards, batch, mask).data, one);
        }
      }
    }
  });
});
