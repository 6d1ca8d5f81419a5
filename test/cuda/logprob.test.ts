// Log-probs on device tensors give what they give on the host, within the bound of the family.
import { beforeAll, expect, it } from "vitest";
import {
  cuda,
  type Gpu,
  type Tensor,
  type TensorType,
  tokenLogProbs,
  tokenLogProbsBackward,
} from "../../lib/index.ts";
import { describeEmulated } from "./emulated.ts";
import { hostOf, normRatio, to16Bits } from "./support.ts";

const [rows, vocabulary] = [5, 700];
const targets = Int32Array.of(0, 699, 3, 512, 77);

function logitsOf<K extends TensorType>(type: K): Tensor<K> {
  const values = Float64Array.from({ length: rows * vocabulary }, (_, i) => 4 * Math.sin(i * 1.7) + (i % 11));
  values[3 * vocabulary + 5] = Number.NEGATIVE_INFINITY;
  const data =
    type === "float64" ? values : type === "float32" ? Float32Array.from(values) : to16Bits(values, type);
  return { type, data, dims: [rows, vocabulary] } as unknown as Tensor<K>;
}

describeEmulated("log-probs on the device", () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await cuda();
  });

  it.each([
    ["float32", 1e-6],
    ["float64", 1e-13],
    ["bfloat16", 1e-6],
    ["float16", 1e-6],
  ] as const)("%s: forward and backward", async (type, bound) => {
    const options = { temperature: 0.7, sumSquaredProbs: true };
    const logits = logitsOf(type);
    const forward = await tokenLogProbs(logits, targets, options);
    const upstream = {
      gradLogProbs: forward.logProbs.map((_, i) => 0.5 - i),
      gradEntropy: forward.logProbs.map((_, i) => 0.1 * i),
    } as { gradLogProbs: never; gradEntropy: never };
    const gradient = await tokenLogProbsBackward(logits, targets, forward, upstream, options);

    const placed = gpu.upload(logits);
    const onDevice = await tokenLogProbs(placed, gpu.upload(targets), options);
    const uploaded = {
      gradLogProbs: gpu.upload(upstream.gradLogProbs),
      gradEntropy: gpu.upload(upstream.gradEntropy),
    };
    const result = await tokenLogProbsBackward(placed, targets, onDevice, uploaded, options);
    const [expected, actual] = [await hostOf(forward), await hostOf(onDevice)];
    expect(Object.keys(actual).sort()).toEqual(Object.keys(expected).sort());
    for (const [name, values] of Object.entries(expected))
      expect(normRatio(actual[name]!, values), name).toBeLessThanOrEqual(bound);
    expect([result.type, result.dims]).toEqual([type, [rows, vocabulary]]);
    const bits = await result.download();
    if (type === "float32" || type === "float64")
      expect(normRatio(bits as Float32Array, gradient.data as Float32Array)).toBeLessThanOrEqual(bound);
    // Both round a value within 1e-6 to 16 bits: they differ by at most one step, where it lies near the middle.
    else {
      const steps = Array.from(bits, (bit, i) => Math.abs(bit - gradient.data[i]!));
      expect(Math.max(...steps)).toBeLessThanOrEqual(1);
    }
  });

  it("writes the gradient over the logits when asked to", async () => {
    const placed = gpu.upload(logitsOf("float32"));
    const forward = await tokenLogProbs(placed, targets);
    const upstream = { gradLogProbs: gpu.upload(new Float32Array(rows).fill(1)) };
    const apart = await tokenLogProbsBackward(placed, targets, forward, upstream);
    const result = await tokenLogProbsBackward(placed, targets, forward, upstream, { out: placed });
    expect(result).toBe(placed);
    expect(await placed.download()).toEqual(await apart.download());
  });
});
