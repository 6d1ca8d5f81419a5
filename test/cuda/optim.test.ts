// AdamW and the gradient norm on device tensors: the bits of the host, and the same errors.
import { beforeAll, expect, it } from "vitest";
import { adamWInPlace, clipGradNormInPlace, clipScale, cuda, type Gpu, gradNorm } from "../../lib/index.ts";
import { describeEmulated } from "./emulated.ts";

const sizes = [1, 700, 0, 33];
const lists = (seed: number) =>
  sizes.map((size, k) => Float32Array.from({ length: size }, (_, i) => Math.sin(seed + k + 1.3 * i)));

const squared = (tensor: Float32Array) => tensor.map((value) => value * value);

describeEmulated("the optimiser on the device", () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await cuda();
  });
  const upload = (tensors: Float32Array[]) => tensors.map((tensor) => gpu.upload(tensor));

  it("three clipped steps have the bits of the host", async () => {
    const host = {
      params: lists(1),
      firstMoments: sizes.map((size) => new Float32Array(size)),
      secondMoments: sizes.map((size) => new Float32Array(size)),
    };
    const device = {
      params: upload(host.params),
      firstMoments: sizes.map((size) => gpu.zeros("float32", [size])),
      secondMoments: sizes.map((size) => gpu.zeros("float32", [size])),
    };
    for (let step = 1; step <= 3; step++) {
      const grads = lists(step);
      const placed = upload(grads);
      expect(await gradNorm(placed).download()).toBe(gradNorm(grads));
      const [want, got] = [clipGradNormInPlace(grads, 2), clipGradNormInPlace(placed, 2)];
      expect(await got.norm.download()).toBe(want.norm);
      expect(await got.scale.download()).toBe(want.scale);
      adamWInPlace({ ...host, grads }, { step, learningRate: 0.01 });
      adamWInPlace({ ...device, grads: placed }, { step, learningRate: 0.01 });
    }
    for (const name of ["params", "firstMoments", "secondMoments"] as const)
      for (const [i, tensor] of device[name].entries())
        expect(await tensor.download(), `${name}[${i}]`).toEqual(host[name][i]);
  });

  it("a step with the scale of the gradients has the bits of the host, and reads nothing back", async () => {
    for (const maxNorm of [2, 1e6]) {
      const host = { params: lists(1), firstMoments: lists(5), secondMoments: lists(6).map(squared) };
      const device = {
        params: upload(host.params),
        firstMoments: upload(host.firstMoments),
        secondMoments: upload(host.secondMoments),
      };
      const grads = lists(2);
      const placed = upload(grads);
      const [want, got] = [clipScale(grads, maxNorm), clipScale(placed, maxNorm)];
      adamWInPlace({ ...host, grads }, { step: 3, learningRate: 0.01, gradScale: want.scale });
      adamWInPlace({ ...device, grads: placed }, { step: 3, learningRate: 0.01, gradScale: got.scale });
      expect([await got.norm.download(), await got.scale.download()]).toEqual([want.norm, want.scale]);
      expect(want.scale < 1).toBe(maxNorm === 2);
      for (const name of ["params", "firstMoments", "secondMoments"] as const)
        for (const [i, tensor] of device[name].entries())
          expect(await tensor.download(), `${name}[${i}]`).toEqual(host[name][i]);
      for (const [i, tensor] of placed.entries()) expect(await tensor.download()).toEqual(grads[i]);
    }
  });

  it("the scale makes a gradient usable whose square is not", async () => {
    const grads = gpu.upload(Float32Array.of(1e25, 1));
    const state = {
      params: gpu.zeros("float32", [2]),
      grads,
      firstMoments: gpu.zeros("float32", [2]),
      secondMoments: gpu.zeros("float32", [2]),
    };
    adamWInPlace(state, { step: 1, learningRate: 0.1, gradScale: clipScale(grads, 1).scale });
    await gpu.synchronize();
    adamWInPlace(state, { step: 2, learningRate: 0.1 });
    await expect(gpu.synchronize()).rejects.toThrow(/^adamWInPlace: grads: .* at index 0/);
  });

  it("a norm is no scale, and a scale on the device none for the host", () => {
    const grads = gpu.upload(Float32Array.of(1, 2));
    const { norm, scale } = clipScale(grads, 1);
    const of = (make: () => unknown) => ({
      params: make(),
      grads: make(),
      firstMoments: make(),
      secondMoments: make(),
    });
    const onDevice = of(() => gpu.upload(Float32Array.of(1, 2))) as never;
    const onHost = of(() => Float32Array.of(1, 2)) as never;
    const options = { step: 1, learningRate: 0.1 };
    expect(() => adamWInPlace(onDevice, { ...options, gradScale: norm })).toThrow(
      /^gradScale: expected a number/,
    );
    expect(() => adamWInPlace(onHost, { ...options, gradScale: scale })).toThrow(
      /^gradScale: expected memory on the host as params is/,
    );
  });

  it("a bad gradient in the last tensor changes nothing, and is named", async () => {
    const grads = lists(2);
    grads[3]![5] = Number.NaN;
    const state = {
      params: upload(lists(1)),
      grads: upload(grads),
      firstMoments: upload(lists(3)),
      secondMoments: upload(lists(4).map((tensor) => tensor.map(Math.abs))),
    };
    adamWInPlace(state, { step: 1, learningRate: 0.1 });
    await expect(gpu.synchronize()).rejects.toThrow(
      /^adamWInPlace: grads\[3\]: .* at index 5, got NaN; nothing was updated/,
    );
    for (const [i, tensor] of state.params.entries()) expect(await tensor.download()).toEqual(lists(1)[i]);

    gradNorm(state.grads);
    await expect(gpu.synchronize()).rejects.toThrow(/^gradNorm: grads\[3\]: .* at index 5, got NaN/);
  });

  it("shared memory, mixed placement and lengths are refused", () => {
    const [a, b, c, d] = [1, 2, 3, 4].map((seed) => gpu.upload(lists(seed)[1]!)) as [
      never,
      never,
      never,
      never,
    ];
    const options = { step: 1, learningRate: 0.1 };
    const step = (changes: object) => () =>
      adamWInPlace({ params: a, grads: b, firstMoments: c, secondMoments: d, ...changes }, options);
    expect(step({ firstMoments: a })).toThrow(/^firstMoments: .*shared with params/);
    expect(step({ grads: lists(1)[1] })).toThrow(/^grads: expected memory on the device as params is/);
    expect(step({ grads: gpu.zeros("float32", [3]) })).toThrow(/^grads: expected 700 values, got 3/);
    expect(() => gradNorm([a, lists(1)[1] as never])).toThrow(/^grads\[1\]: expected memory on the device/);
  });
});
