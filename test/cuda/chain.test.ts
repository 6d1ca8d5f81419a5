// A training step that stays on the device: hidden states, log-probs, loss, gradient, clipping, AdamW.
import { expect, it } from "vitest";
import {
  adamWInPlace,
  clipGradNormInPlace,
  cuda,
  linearLogProbs,
  linearLogProbsBackward,
  ppoLoss,
  type Tensor,
} from "../../lib/index.ts";
import { addon } from "../../lib/load.ts";
import { describeEmulated } from "./emulated.ts";
import { normRatio } from "./support.ts";

const [rows, width, vocabulary] = [12, 24, 96];
const tensor = (dims: number[], seed: number): Tensor<"float32"> => ({
  type: "float32",
  data: Float32Array.from({ length: dims.reduce((a, b) => a * b) }, (_, i) => Math.sin(seed + 1.9 * i) / 3),
  dims,
});
const hidden = tensor([rows, width], 1);
const weight = tensor([vocabulary, width], 2);
const targets = Int32Array.from({ length: rows }, (_, i) => (i * 31) % vocabulary);
const offsets = Int32Array.of(0, 5, 12);
const old = Float32Array.from({ length: rows }, (_, i) => -4.5 - 0.05 * (i % 3));
const advantages = Float32Array.of(1, -0.5);
const options = { step: 1, learningRate: 0.05 };

async function onHost(): Promise<{ weight: Float32Array; loss: number; norm: number }> {
  const head = { hidden, weight: { ...weight, data: weight.data.slice() } };
  const forward = await linearLogProbs(head, targets);
  const { loss, gradLogProbs } = ppoLoss({
    logProbs: { data: forward.logProbs, offsets },
    oldLogProbs: { data: old, offsets },
    advantages,
  });
  const upstream = { gradLogProbs: gradLogProbs.data };
  const { gradWeight } = await linearLogProbsBackward(head, targets, forward, upstream);
  const { norm } = clipGradNormInPlace(gradWeight.data, 0.1);
  const moments = () => new Float32Array(weight.data.length);
  adamWInPlace(
    { params: head.weight.data, grads: gradWeight.data, firstMoments: moments(), secondMoments: moments() },
    options,
  );
  return { weight: head.weight.data, loss, norm };
}

describeEmulated("a chain on the device", () => {
  it("gives the weights of the host, without a copy to the host on the way", async () => {
    const gpu = await cuda();
    const { device } = addon();
    const expected = await onHost();

    const head = { hidden: gpu.upload(hidden), weight: gpu.upload(weight) };
    const batch = { oldLogProbs: { data: gpu.upload(old), offsets }, advantages: gpu.upload(advantages) };
    const [firstMoments, secondMoments] = [0, 1].map(() => gpu.zeros("float32", [vocabulary * width]));
    const copies: string[] = [];
    const { read, download } = device;
    const counted =
      <A extends unknown[], R>(name: string, copy: (...args: A) => R) =>
      (...args: A) => {
        copies.push(name);
        return copy(...args);
      };
    Object.assign(device, { read: counted("read", read), download: counted("download", download) });
    const forward = await linearLogProbs(head, targets);
    const { loss, gradLogProbs } = ppoLoss({ logProbs: { data: forward.logProbs, offsets }, ...batch });
    const upstream = { gradLogProbs: gradLogProbs.data };
    const { gradWeight } = await linearLogProbsBackward(head, targets, forward, upstream);
    const { norm } = clipGradNormInPlace(gradWeight, 0.1);
    adamWInPlace(
      { params: head.weight, grads: gradWeight, firstMoments: firstMoments!, secondMoments: secondMoments! },
      options,
    );
    expect(copies).toEqual([]);
    Object.assign(device, { read, download });

    expect(normRatio(await head.weight.download(), expected.weight)).toBeLessThanOrEqual(1e-5);
    expect(await loss.download()).toBeCloseTo(expected.loss, 6);
    expect(await norm.download()).toBeCloseTo(expected.norm, 5);
  });
});
