// Where a peer's arithmetic is the library's own, both must agree; and what holds for every preset.
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import {
  fromPadded,
  getNumThreads,
  gae,
  grpo,
  klPenalty,
  opo,
  paddedLayout,
  ppoLoss,
  presets,
  remax,
  rloo,
  setNumThreads,
  toPadded,
  valueLoss,
  whiten,
} from "../../lib/index.ts";
import { expectClose, expectGradient, expectSameBits, expectZeroWhereMasked } from "../support/compare.ts";
import { seeded } from "../support/generators.ts";

const { pureVerl, pureOpenRlhf, verl, trl, openRlhf } = presets;

const number = (bound: number) => fc.double({ min: -bound, max: bound, noNaN: true }).map((x) => x + 0);
const numbers = (length: number, bound = 2) =>
  fc
    .array(number(bound), { minLength: length, maxLength: length })
    .map((values) => Float64Array.from(values));

// Padded batches with holes and padding on both sides; every response has a token, every group two responses.
const batches = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 2, max: 3 }), fc.integer({ min: 1, max: 7 }))
  .chain(([prompts, size, width]) => {
    const rows = prompts * size;
    const total = rows * width;
    const mask = fc
      .array(fc.array(fc.constantFrom(0, 1, 1), { minLength: width, maxLength: width }), {
        minLength: rows,
        maxLength: rows,
      })
      .map((flags) => Uint8Array.from(flags.flatMap((row) => (row.includes(1) ? row : row.fill(1, 0, 1)))));
    const index = Array.from({ length: rows }, (_, row) => Math.floor(row / size));
    return fc.record({
      shape: mask.map((responseMask) => ({ rows, width, responseMask })),
      index: fc.constant(index),
      a: numbers(total),
      b: numbers(total),
      c: numbers(total),
      scores: numbers(rows),
    });
  });
type Batch = typeof batches extends fc.Arbitrary<infer B> ? B : never;

const check = (property: (batch: Batch) => void) => fc.assert(fc.property(batches, property), seeded);
const layoutOf = ({ shape }: Batch) => paddedLayout(shape.responseMask, shape.rows, shape.width);
const underMask = ({ shape }: Batch, values: ArrayLike<number>) =>
  Array.from(values, (x, i) => (shape.responseMask[i] === 1 ? x : 0));

// Rewards of the whole response at its last token, so that the peers' sums see nothing else.
function outcomeBatch(batch: Batch) {
  const tokenLevelRewards = pureVerl.addVerifiableReward({
    ...batch.shape,
    tokenLevelRewards: new Float64Array(batch.a.length),
    verifiableRewards: batch.scores,
  });
  return { ...batch.shape, tokenLevelRewards, index: batch.index };
}

function spread({ shape }: Batch, scores: ArrayLike<number>): number[] {
  return Array.from(shape.responseMask, (flag, i) => (flag === 1 ? scores[Math.floor(i / shape.width)]! : 0));
}

describe("presets agree with the library where the arithmetic is the same", () => {
  it("verl rloo, grpo, opo", () => {
    check((batch) => {
      const outcomes = outcomeBatch(batch);
      const { scores, index } = batch;
      const lengths = Array.from({ length: batch.shape.rows }, (_, row) => {
        const { width, responseMask } = batch.shape;
        return responseMask.subarray(row * width, (row + 1) * width).reduce((sum, flag) => sum + flag, 0);
      });
      const expected = rloo(scores, index).advantages;
      expectClose(verl.computeRlooOutcomeAdvantage(outcomes).advantages, spread(batch, expected));
      expectClose(verl.computeRlooVectorizedOutcomeAdvantage(outcomes).advantages, spread(batch, expected));
      const scaled = grpo(scores, index, { std: "none" }).advantages;
      const options = { normAdvByStdInGrpo: false };
      expectClose(verl.computeGrpoOutcomeAdvantage(outcomes, options).advantages, spread(batch, scaled));
      const weighted = opo(scores, lengths, index).advantages;
      expectClose(verl.computeOpoOutcomeAdvantage(outcomes).advantages, spread(batch, weighted));
    });
  });

  it("verl and OpenRLHF group normalisation, TRL's three scalings", () => {
    check((batch) => {
      const { scores, index, shape } = batch;
      // Not on equal scores: the peers divide a rounding residue there, the library gives 0.
      fc.pre(new Set(scores).size === scores.length);
      const expected = grpo(scores, index, { epsilon: 1e-6 }).advantages;
      const tight = grpo(scores, index, { epsilon: 1e-9 }).advantages;
      fc.pre(Math.max(...tight.map(Math.abs)) < 3);
      expectClose(
        verl.computeGrpoOutcomeAdvantage(outcomeBatch(batch)).advantages,
        spread(batch, expected),
        1e-6,
      );
      const norm = openRlhf.processExperiences(
        { ...shape, rewards: scores, index },
        { advantageEstimator: "group_norm" },
      );
      expectClose(norm, tight, 1e-6);
      for (const std of ["group", "batch", "none"] as const) {
        const own = grpo(scores, index, { std, epsilon: 1e-4 }).advantages;
        expectClose(trl.grpoAdvantages({ rewards: scores, index }, { scaleRewards: std }), own, 1e-6);
      }
    });
  });

  it("verl ReMax, GAE and whitening", () => {
    check((batch) => {
      const layout = layoutOf(batch);
      const { shape, scores } = batch;
      const rewards = fromPadded(batch.a, layout);
      const greedy = remax(rewards, scores, { mask: layout.mask });
      const peer = verl.computeRemaxOutcomeAdvantage({
        ...shape,
        tokenLevelRewards: batch.a,
        rewardBaselines: scores,
      });
      expectClose(underMask(batch, peer.advantages), toPadded(greedy.advantages, layout), 1e-12);

      const tokens = layout.mask.reduce((sum, flag) => sum + flag, 0);
      if (tokens < 2) return;
      const options = { gamma: 0.9, lambda: 0.8, mask: layout.mask };
      const own = gae(rewards, fromPadded(batch.b, layout), options);
      const gaeBatch = { ...shape, tokenLevelRewards: batch.a, values: batch.b };
      const { advantages, returns } = verl.computeGaeAdvantageReturn(gaeBatch, { gamma: 0.9, lam: 0.8 });
      expectClose(underMask(batch, returns), toPadded(own.returns, layout), 1e-12);
      const spreadOut = Math.max(...own.advantages.data) - Math.min(...own.advantages.data) > 0.01;
      if (!spreadOut) return;
      const whitened = whiten(own.advantages, { mask: layout.mask, epsilon: 1e-8 });
      expectClose(underMask(batch, advantages), toPadded(whitened, layout), 1e-5);
    });
  });

  it("PURE main's baselines are the step and token baselines", () => {
    check((batch) => {
      const layout = layoutOf(batch);
      const { shape, index } = batch;
      const { rows, width } = shape;
      // A step ends at every second counted token and at the last.
      const stepEndMask = new Uint8Array(rows * width);
      for (let row = 0; row < rows; row++) {
        const at = Array.from({ length: width }, (_, t) => row * width + t).filter(
          (i) => shape.responseMask[i] === 1,
        );
        for (const [k, i] of at.entries()) if (k % 2 === 1 || k === at.length - 1) stepEndMask[i] = 1;
      }
      const process = batch.a.map((reward, i) => (stepEndMask[i] === 1 ? reward : 0));
      const stepRows = Array.from({ length: rows }, (_, row) =>
        Array.from({ length: width }, (_, t) => t)
          .filter((t) => stepEndMask[row * width + t] === 1)
          .map((t) => t - layout.starts[row]!),
      );
      const stepEnds = {
        data: Int32Array.from(stepRows.flat()),
        offsets: Int32Array.from([0, ...stepRows.map((_, i) => stepRows.slice(0, i + 1).flat().length)]),
      };
      for (const baseline of ["step", "token"] as const) {
        const own = rloo(fromPadded(process, layout), index, {
          baseline,
          stepEnds,
          countSeparators: false,
          mask: layout.mask,
        });
        const peerBatch = {
          ...shape,
          processRewards: process,
          stepEndMask,
          solved: new Float64Array(rows),
          index,
        };
        const peer = pureOpenRlhf.processExperiences(peerBatch, {
          rewardMode: "PRM",
          rewardBaseline: baseline,
        });
        const noSeparators = { ...shape, tokenLevelRewards: peer, stepEndMask: new Uint8Array(rows * width) };
        const { returns } = pureOpenRlhf.getAdvantagesAndReturns(noSeparators);
        expectClose(underMask(batch, returns), toPadded(own.advantages, layout), 1e-11);
      }
    });
  });

  it("PPO clip: verl with dual clip, TRL, OpenRLHF; gradients too", () => {
    check((batch) => {
      const layout = layoutOf(batch);
      const peer = { ...batch.shape, logProbs: batch.a, oldLogProbs: batch.b, advantages: batch.c };
      const own = {
        logProbs: fromPadded(batch.a, layout),
        oldLogProbs: fromPadded(batch.b, layout),
        advantages: fromPadded(batch.c, layout),
        mask: layout.mask,
      };
      const dual = ppoLoss(own, { dualClip: 3, clipRatioLow: 0.2, clipRatioHigh: 0.28 });
      const vanilla = verl.computePolicyLossVanilla(peer, { clipRatioLow: 0.2, clipRatioHigh: 0.28 });
      expectClose([vanilla.loss], [dual.loss], 1e-12);
      expectClose(vanilla.gradLogProbs, toPadded(dual.gradLogProbs, layout), 1e-12);
      const plain = ppoLoss(own);
      const other = openRlhf.policyLoss(peer);
      expectClose([other.loss, other.clipFraction], [plain.loss, plain.stats.clipFraction], 1e-12);
      expectClose(other.gradLogProbs, toPadded(plain.gradLogProbs, layout), 1e-12);
      const perRow = ppoLoss({ ...own, advantages: batch.scores }, { aggregation: "seq-mean-token-mean" });
      const trlLoss = trl.computeLoss({ ...peer, advantages: batch.scores }, { lossType: "grpo" });
      expectClose([trlLoss.loss], [perRow.loss], 1e-12);
      expectClose(trlLoss.gradLogProbs, toPadded(perRow.gradLogProbs, layout), 1e-12);
    });
  });

  it("KL estimates and value loss", () => {
    check((batch) => {
      const layout = layoutOf(batch);
      const mask = layout.mask;
      const pair = { logProbs: fromPadded(batch.a, layout), refLogProbs: fromPadded(batch.b, layout), mask };
      const near = batch.a.every((x, i) => x - batch.b[i]! > -2.5); // beyond, verl's clamp bites
      for (const estimator of ["k1", "k2", "abs", ...(near ? (["k3"] as const) : [])] as const) {
        const own = klPenalty(pair, { estimator, aggregation: "sum" });
        const peer = verl.klPenalty(
          { ...batch.shape, logProbs: batch.a, refLogProbs: batch.b },
          { klPenalty: estimator },
        );
        expectClose(underMask(batch, peer.values), toPadded(own.values, layout), 1e-12);
        expectClose(peer.gradLogProbs, toPadded(own.gradLogProbs, layout), 1e-12);
      }
      const values = {
        values: pair.logProbs,
        oldValues: pair.refLogProbs,
        returns: fromPadded(batch.c, layout),
        mask,
      };
      const own = valueLoss(values, { clipRange: 0.3 });
      const peer = verl.computeValueLoss(
        { ...batch.shape, vpreds: batch.a, values: batch.b, returns: batch.c },
        { cliprangeValue: 0.3 },
      );
      expectClose([peer.loss], [own.loss], 1e-12);
      expectClose(peer.gradValues, toPadded(own.gradValues, layout), 1e-12);
    });
  });
});

// Every policy loss, as a function of the batch.
const losses = {
  pure: (batch: Batch) => pureVerl.computePolicyLoss(policyBatch(batch)),
  vanilla: (batch: Batch) => verl.computePolicyLossVanilla(policyBatch(batch)),
  gspo: (batch: Batch) => verl.computePolicyLossGspo(policyBatch(batch)),
  sapo: (batch: Batch) => verl.computePolicyLossSapo(policyBatch(batch)),
  geo_mean: (batch: Batch) => verl.computePolicyLossGeoMean(policyBatch(batch)),
  trl: (batch: Batch) => trl.computeLoss({ ...policyBatch(batch), advantages: batch.scores }),
  "trl sequence": (batch: Batch) =>
    trl.computeLoss(
      { ...policyBatch(batch), advantages: batch.scores },
      { importanceSamplingLevel: "sequence" },
    ),
  "trl rloo": (batch: Batch) => trl.rlooLoss({ ...policyBatch(batch), advantages: batch.scores }),
  openRlhf: (batch: Batch) => openRlhf.policyLoss(policyBatch(batch), { tokenLevelLoss: false }),
};

function policyBatch(batch: Batch) {
  return { ...batch.shape, logProbs: batch.a, oldLogProbs: batch.b, advantages: batch.c };
}

describe.each(Object.entries(losses))("policy loss %s", (name, loss) => {
  it("the gradient is +0 outside the mask and matches central differences away from kinks", () => {
    check((batch) => {
      // Half the log-ratios well inside the clip, half well outside.
      const a = batch.b.map(
        (old, i) => old + (batch.a[i]! > 0 ? 0.05 + 0.01 * batch.a[i]! : -1 + 0.01 * batch.a[i]!),
      );
      const smooth = { ...batch, a };
      const { gradLogProbs } = loss(smooth);
      expectZeroWhereMasked(gradLogProbs, batch.shape.responseMask);
      // GSPO's token form is not the gradient of its value.
      if (name !== "gspo")
        expectGradient((x) => loss({ ...smooth, a: Float64Array.from(x) }).loss, a, gradLogProbs, 1e-5, 1e-6);
    });
  });
});

describe("threads", () => {
  const before = getNumThreads();
  afterEach(() => setNumThreads(before));

  it("give the same bits", () => {
    const [rows, width] = [64, 1024];
    const values = Float64Array.from({ length: rows * width }, (_, i) => Math.sin(i * 1.7) * 2);
    const other = values.map((x, i) => x + Math.cos(i) * 0.3);
    const shape = { rows, width, responseMask: Uint8Array.from(values, (x) => (x > -1.5 ? 1 : 0)) };
    const index = Array.from({ length: rows }, (_, row) => row % 8);
    const run = () => [
      verl.computePolicyLossVanilla({ ...shape, logProbs: values, oldLogProbs: other, advantages: values })
        .gradLogProbs,
      pureVerl.computeRlooOutcomeAdvantage({ ...shape, tokenLevelRewards: values, index }, { advNorm: true })
        .advantages,
      verl.computeGaeAdvantageReturn(
        { ...shape, tokenLevelRewards: values, values: other },
        { gamma: 0.99, lam: 0.95 },
      ).advantages,
    ];
    setNumThreads(1);
    const one = run();
    setNumThreads(4);
    for (const [i, result] of run().entries()) expectSameBits(result, one[i]!);
  });
});

describe("float32", () => {
  it("is float64 arithmetic rounded once, to 1e-6", () => {
    check((batch) => {
      const single = {
        a: Float32Array.from(batch.a),
        b: Float32Array.from(batch.b),
        c: Float32Array.from(batch.c),
      };
      const double = {
        a: Float64Array.from(single.a),
        b: Float64Array.from(single.b),
        c: Float64Array.from(single.c),
      };
      const low = verl.computePolicyLossVanilla({
        ...batch.shape,
        logProbs: single.a,
        oldLogProbs: single.b,
        advantages: single.c,
      });
      const high = verl.computePolicyLossVanilla({
        ...batch.shape,
        logProbs: double.a,
        oldLogProbs: double.b,
        advantages: double.c,
      });
      expect(low.gradLogProbs).toBeInstanceOf(Float32Array);
      expectClose(low.gradLogProbs, high.gradLogProbs, 1e-6);
      expectClose([low.loss, low.ppoKl], [high.loss, high.ppoKl], 1e-6);
    });
  });
});
