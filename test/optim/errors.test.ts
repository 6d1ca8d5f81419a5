import { describe, expect, it } from "vitest";
import {
  type AdamWOptions,
  adamWInPlace,
  clipGradNormInPlace,
  clipScale,
  gradNorm,
} from "../../lib/index.ts";
import { errorCode, expectSameBits } from "../support/compare.ts";

const fresh = () => ({
  params: Float32Array.of(1, 2, 3),
  grads: Float32Array.of(0.1, 0.2, 0.3),
  firstMoments: new Float32Array(3),
  secondMoments: new Float32Array(3),
});
const step = (options: Partial<AdamWOptions> = {}, state: object = {}) =>
  adamWInPlace({ ...fresh(), ...state }, { step: 1, learningRate: 0.1, ...options });

describe("optim: bad input", () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e30])(
    "a gradient of %s in the last tensor is named, and nothing at all has changed",
    (bad) => {
      const [one, two] = [fresh(), fresh()];
      two.grads[1] = bad;
      const pair = (key: keyof typeof one) => [one[key], two[key]];
      const call = () =>
        adamWInPlace(
          {
            params: pair("params"),
            grads: pair("grads"),
            firstMoments: pair("firstMoments"),
            secondMoments: pair("secondMoments"),
          },
          { step: 1, learningRate: 0.1 },
        );
      expect(call).toThrow(/^grads\[1\]: expected a finite number with a finite square at index 1, got /);
      expect(errorCode(call)).toBe("ERR_NOT_FINITE");
      for (const state of [one, two]) {
        expectSameBits(state.params, fresh().params);
        expectSameBits(state.firstMoments, fresh().firstMoments);
        expectSameBits(state.secondMoments, fresh().secondMoments);
      }
    },
  );

  it("a NaN is found wherever it stands", () => {
    for (const length of [1, 7, 8, 9, 32767, 32768, 70_000]) {
      for (const index of [0, length >> 1, length - 1]) {
        const grads = new Float64Array(length);
        grads[index] = Number.NaN;
        const zeros = () => new Float64Array(length);
        const state = { params: zeros(), grads, firstMoments: zeros(), secondMoments: zeros() };
        expect(() => adamWInPlace(state, { step: 1, learningRate: 1 })).toThrow(`at index ${index}, got NaN`);
        expect(() => gradNorm(grads)).toThrow(`at index ${index}, got NaN`);
      }
    }
  });

  it("a parameter or moment that is not finite is named after an otherwise complete step", () => {
    const state = { ...fresh(), params: Float32Array.of(1, Number.NaN, 3) };
    expect(() => step({}, state)).toThrow(
      /^params: a number that is not finite arises at index 1 after the step/,
    );
    expect(state.params[0]).toBeLessThan(1);
    expect(state.params[2]).toBeLessThan(3);
    expect(errorCode(() => step({}, { secondMoments: Float32Array.of(0, 0, -1) }))).toBe("ERR_NOT_FINITE");
    expect(errorCode(() => step({}, { firstMoments: Float32Array.of(Infinity, 0, 0) }))).toBe(
      "ERR_NOT_FINITE",
    );
  });

  it("with checkGrads false a bad gradient is still reported, after an otherwise complete step", () => {
    const state = { ...fresh(), grads: Float32Array.of(0.1, 0.2, Number.NaN) };
    const call = () => adamWInPlace(state, { step: 1, learningRate: 0.1, checkGrads: false });
    expect(call).toThrow(/^params: a number that is not finite arises at index 2 after the step/);
    expect(state.params[0]).toBeLessThan(1);
  });

  it("a norm that is not finite is an error, and the gradients are left alone", () => {
    const grads = [Float64Array.of(1, 2), Float64Array.of(3, Number.POSITIVE_INFINITY)];
    expect(() => clipGradNormInPlace(grads, 1)).toThrow("grads[1]: expected a finite number at index 1");
    expect(grads[0]).toEqual(Float64Array.of(1, 2));
    const huge = Float64Array.of(1.7e308, 1.7e308);
    expect(errorCode(() => clipGradNormInPlace(huge, 1))).toBe("ERR_NOT_FINITE");
    expect(huge).toEqual(Float64Array.of(1.7e308, 1.7e308));
  });

  const shared = new Float32Array(5);
  it.each<[string, () => unknown, string]>([
    ["step 0", () => step({ step: 0 }), "ERR_ARGUMENT_VALUE"],
    ["step 1.5", () => step({ step: 1.5 }), "ERR_ARGUMENT_VALUE"],
    ["no step", () => step({ step: undefined as never }), "ERR_ARGUMENT_VALUE"],
    ["a negative learning rate", () => step({ learningRate: -1 }), "ERR_ARGUMENT_VALUE"],
    ["a NaN learning rate", () => step({ learningRate: Number.NaN }), "ERR_ARGUMENT_VALUE"],
    ["beta1 of 1", () => step({ beta1: 1 }), "ERR_ARGUMENT_VALUE"],
    ["beta2 below 0", () => step({ beta2: -0.1 }), "ERR_ARGUMENT_VALUE"],
    ["epsilon 0", () => step({ epsilon: 0 }), "ERR_ARGUMENT_VALUE"],
    ["negative weight decay", () => step({ weightDecay: -1 }), "ERR_ARGUMENT_VALUE"],
    ["gradScale 0", () => step({ gradScale: 0 }), "ERR_ARGUMENT_VALUE"],
    ["a checkGrads that is no boolean", () => step({ checkGrads: 0 as never }), "ERR_ARGUMENT_TYPE"],
    ["no tensors", () => step({}, { params: [] }), "ERR_SHAPE"],
    ["a plain array of numbers", () => step({}, { params: [1, 2, 3] }), "ERR_ARGUMENT_TYPE"],
    ["numbers as gradients", () => gradNorm([1, 2] as never), "ERR_ARGUMENT_TYPE"],
    ["fewer gradients than parameters", () => step({}, { grads: new Float32Array(2) }), "ERR_SHAPE"],
    ["another dtype", () => step({}, { firstMoments: new Float64Array(3) }), "ERR_ARGUMENT_TYPE"],
    ["integers", () => gradNorm(new Int32Array(3) as never), "ERR_ARGUMENT_TYPE"],
    [
      "one array for both moments",
      () => step({}, { firstMoments: shared.subarray(0, 3), secondMoments: shared.subarray(0, 3) }),
      "ERR_ARGUMENT_VALUE",
    ],
    [
      "parameters that overlap the gradients",
      () => step({}, { params: shared.subarray(0, 3), grads: shared.subarray(2, 5) }),
      "ERR_ARGUMENT_VALUE",
    ],
    ["overlapping gradients", () => clipGradNormInPlace([shared, shared], 1), "ERR_ARGUMENT_VALUE"],
    ["a negative maxNorm", () => clipGradNormInPlace(shared, -1), "ERR_ARGUMENT_VALUE"],
    ["a clip scale of 0", () => clipScale(shared, 0), "ERR_ARGUMENT_VALUE"],
    ["a NaN maxNorm", () => clipGradNormInPlace(shared, Number.NaN), "ERR_ARGUMENT_VALUE"],
    [
      "shared memory",
      () => gradNorm(new Float32Array(new SharedArrayBuffer(8)) as never),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "detached memory",
      () => {
        const grads = new Float32Array(3);
        structuredClone(grads.buffer, { transfer: [grads.buffer] });
        return gradNorm(grads);
      },
      "ERR_ARGUMENT_TYPE",
    ],
  ])("%s", (_, call, code) => {
    expect(errorCode(call)).toBe(code);
  });

  it("neighbours in one buffer are fine", () => {
    const memory = new Float32Array(12);
    const part = (k: number) => memory.subarray(3 * k, 3 * k + 3);
    step({}, { params: part(0), grads: part(1), firstMoments: part(2), secondMoments: part(3) });
  });
});
