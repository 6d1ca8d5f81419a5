// Statistics, threads and rows longer than a block.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  entropyBonus,
  getNumThreads,
  gmpoLoss,
  importanceWeights,
  klPenalty,
  ppoLoss,
  ragged,
  setNumThreads,
  valueLoss,
} from "../../lib/index.ts";
import { aggregate, policyTerms } from "../reference/loss.ts";
import { expectClose, expectSameBits } from "../support/compare.ts";
import { seeded } from "../support/generators.ts";
import { AGGREGATIONS, asInput, batches, compacted, POLICY_LOSSES, type RandomBatch } from "./batches.ts";

describe("losses: threads", () => {
  it("the same bits for 1, 2 and 5 threads", () => {
    const before = getNumThreads();
    const rows = Array.from({ length: 24 }, (_, i) => Array.from({ length: 700 + 37 * i }, (_, t) => i + t));
    const column = (f: (x: number) => number) =>
      ragged(
        rows.map((values) => values.map(f)),
        "float32",
      );
    const batch = {
      logProbs: column((x) => -1 + Math.sin(x)),
      oldLogProbs: column((x) => -1 + Math.sin(x * 1.3)),
      advantages: column((x) => Math.cos(x * 0.7)),
      importanceWeights: column((x) => 1 + 0.5 * Math.sin(x * 3)),
    };
    const mask = Uint8Array.from({ length: batch.logProbs.data.length }, (_, i) => Number(i % 7 !== 0));
    const all = () => [
      ...Object.values(POLICY_LOSSES).flatMap(({ loss }) => {
        const { loss: value, gradLogProbs, stats } = loss({ ...batch, mask });
        return [value, ...gradLogProbs.data, ...Object.values(stats as object)];
      }),
      ...Object.values(klPenalty({ ...batch, refLogProbs: batch.advantages }).stats),
      valueLoss({ values: batch.logProbs, returns: batch.advantages, mask }).loss,
      entropyBonus({ entropy: batch.advantages, mask }).loss,
      ...Object.values(
        importanceWeights(
          { oldLogProbs: batch.oldLogProbs, rolloutLogProbs: batch.logProbs, mask },
          { correction: "truncate", level: "sequence-mean", max: 2, normalize: true },
        ).stats,
      ),
    ];
    try {
      setNumThreads(1);
      const single = all();
      for (const threads of [2, 5]) {
        setNumThreads(threads);
        expectSameBits(all(), single);
      }
    } finally {
      setNumThreads(before);
    }
  });

  it("a reused out is written whole, at masked-out tokens too", () => {
    const values = ragged([[-1, -2, -3], [], [-4, -5]]);
    const mask = Uint8Array.of(1, 0, 1, 0, 0);
    const input = { logProbs: values, oldLogProbs: values, advantages: values, mask };
    const junk = () => new Float64Array(5).fill(Number.NaN);
    for (const { loss } of Object.values(POLICY_LOSSES)) {
      const { gradLogProbs } = loss(input);
      expectSameBits(loss(input, { out: junk() }).gradLogProbs.data, gradLogProbs.data);
    }
    const penalty = klPenalty({ ...input, refLogProbs: values }, { out: junk(), valuesOut: junk() });
    expectSameBits([...penalty.gradLogProbs.data, ...penalty.values.data], new Float64Array(10));
    const value = { values, returns: ragged([[0, 0, 0], [], [0, 0]]), mask };
    expectSameBits(valueLoss(value, { out: junk() }).gradValues.data, valueLoss(value).gradValues.data);
    const entropy = { entropy: values, mask };
    expectSameBits(
      entropyBonus(entropy, { out: junk() }).gradEntropy.data,
      entropyBonus(entropy).gradEntropy.data,
    );
    const how = { correction: "truncate", level: "token", max: 2 } as const;
    const rollout = { oldLogProbs: values, rolloutLogProbs: values, mask };
    expectSameBits(importanceWeights(rollout, { ...how, out: junk() }).weights.data, mask);
  });

  it("rows longer than a block, with a mask, are the oracle's", () => {
    const values = Array.from({ length: 1700 }, (_, t) => Math.sin(t * 1.7));
    const masks = [values.map((_, t) => Number(t % 3 !== 1))];
    const batch: RandomBatch = {
      logProbs: [values],
      oldLogProbs: [values.map((x, t) => x - 0.3 * Math.cos(t))],
      advantages: [values.map((_, t) => Math.cos(t * 0.3) + 0.2)],
      masks,
      weights: [values.map(() => 1)],
      groups: ["p"],
    };
    for (const name of ["gmpoLoss", "gspoLoss", "ppoLoss"]) {
      const { loss, objective } = POLICY_LOSSES[name]!;
      const result = loss(asInput(batch), { aggregation: "seq-mean-token-mean" });
      const oracle = aggregate(policyTerms(batch, objective), masks, { aggregation: "seq-mean-token-mean" });
      expectClose([result.loss], [oracle.loss]);
      expectClose(result.gradLogProbs.data, oracle.gradient);
    }
    expect(gmpoLoss(asInput(batch)).stats.tokens).toBe(masks[0]!.filter((m) => m === 1).length);
  });
});

describe("losses: statistics", () => {
  it("raw statistics do not depend on the clamp, and the clamped tokens are counted", () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const { logProbs, oldLogProbs, mask, ...rest } = asInput(batch);
        const input = { logProbs, oldLogProbs, mask, ...rest };
        const [narrow, wide] = [ppoLoss(input, { logRatioClamp: 0.25 }).stats, ppoLoss(input).stats];
        expectClose(
          [narrow.rawMeanRatio, narrow.rawApproxKl, narrow.rawApproxKlK3, narrow.maxLogRatio],
          [wide.meanRatio, wide.approxKl, wide.approxKlK3, wide.maxLogRatio],
        );
        const kept = compacted(batch);
        const d = kept.logProbs.flatMap((values, i) => values.map((x, t) => x - kept.oldLogProbs[i]![t]!));
        expect(narrow.clampedTokens).toBe(d.filter((x) => Math.abs(x) > 0.25).length);
        const kl = (logRatioClamp: number) =>
          klPenalty({ logProbs, refLogProbs: oldLogProbs, mask }, { logRatioClamp }).stats;
        expectClose([kl(0.25).rawK1, kl(0.25).rawK3], [kl(20).k1, kl(20).k3]);
      }),
      seeded,
    );
  });

  it("are plain means over the counted tokens, whatever weights, aggregation and denominator", () => {
    fc.assert(
      fc.property(batches, fc.constantFrom(...AGGREGATIONS), (batch, aggregation) => {
        const options = { aggregation, groups: batch.groups, denominator: 3, clipRatio: 0.2, dualClip: 3 };
        const { stats } = ppoLoss(asInput(batch), options);
        const kept = compacted(batch);
        const d = kept.logProbs.flatMap((values, i) => values.map((x, t) => x - kept.oldLogProbs[i]![t]!));
        const A = kept.advantages.flat();
        const rho = d.map(Math.exp);
        const mean = (values: number[]) =>
          values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;
        const share = (f: (i: number) => boolean) => mean(d.map((_, i) => Number(f(i))));
        expect(stats.tokens).toBe(d.length);
        expectClose(
          [stats.meanRatio, stats.approxKl, stats.approxKlK3],
          [mean(rho), -mean(d), mean(d.map((x) => Math.expm1(x) - x))],
        );
        expectClose(
          [stats.clipFraction],
          [share((i) => (A[i]! > 0 ? rho[i]! > 1.2 : A[i]! < 0 && rho[i]! < 0.8))],
        );
        expectClose([stats.clipFractionLower], [share((i) => A[i]! < 0 && rho[i]! > 3)]);
        const ess = (mean(rho) ** 2 * d.length) / mean(rho.map((x) => x * x));
        expectClose([stats.effectiveSampleSize], [d.length === 0 ? 0 : ess]);
        const extremes =
          d.length === 0
            ? [0, 0, 0, 0]
            : [Math.max(...rho), Math.min(...rho), Math.max(...d), Math.min(...d)];
        expectClose([stats.maxRatio, stats.minRatio, stats.maxLogRatio, stats.minLogRatio], extremes);
        expectClose(
          [stats.rawMeanRatio, stats.rawApproxKl, stats.rawApproxKlK3],
          [stats.meanRatio, stats.approxKl, stats.approxKlK3],
          0,
        );
      }),
      seeded,
    );
  });
});
