import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import {
  adamWInPlace,
  clipGradNormInPlace,
  clipScale,
  type FloatArray,
  getNumThreads,
  gradNorm,
  setNumThreads,
} from "../../lib/index.ts";
import { adamWElement, norm as referenceNorm } from "../reference/optim.ts";
import { expectClose, expectSameBits } from "../support/compare.ts";
import { seeded } from "../support/generators.ts";

const threads = getNumThreads();
afterEach(() => setNumThreads(threads));

// Nothing so small that its square underflows in float32.
const number = (bound: number) =>
  fc.double({ min: -bound, max: bound, noNaN: true }).map((x) => (Math.abs(x) < 1e-15 ? 0 : x));
const element = fc.tuple(number(3), number(10), number(1), number(5).map(Math.abs));
const options = fc.record({
  step: fc.integer({ min: 1, max: 20000 }),
  learningRate: fc.constantFrom(0, 1e-6, 3e-4, 0.1),
  beta1: fc.constantFrom(0, 0.5, 0.9),
  beta2: fc.constantFrom(0, 0.9, 0.999),
  epsilon: fc.constantFrom(1e-8, 1e-5),
  weightDecay: fc.constantFrom(0, 0.01, 0.3),
  gradScale: fc.constantFrom(1, 0.25, 0.037),
});

function stateOf<T extends FloatArray>(make: (values: number[]) => T, elements: number[][]) {
  const column = (k: number) => make(elements.map((values) => values[k]!));
  return { params: column(0), grads: column(1), firstMoments: column(2), secondMoments: column(3) };
}

/** A long array of reproducible numbers in [-1, 1). */
function noise<T extends FloatArray>(data: T, seed: number): T {
  let x = seed;
  for (let i = 0; i < data.length; i++) {
    x = (Math.imul(x, 1664525) + 1013904223) | 0;
    data[i] = x / 2 ** 31;
  }
  return data;
}

describe("adamWInPlace", () => {
  it("float64 agrees with the element-wise reference to 1e-12", () => {
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 40 }), options, (elements, o) => {
        const state = stateOf((values) => Float64Array.from(values), elements);
        adamWInPlace(state, o);
        const expected = elements.map((values) => adamWElement(values, o));
        for (const [k, key] of (["params", "firstMoments", "secondMoments"] as const).entries()) {
          expectClose(
            state[key],
            expected.map((values) => values[k]!),
            1e-12,
          );
        }
      }),
      seeded,
    );
  });

  it("float32 meets its stated bound against float64", () => {
    const ulp = 2 ** -23;
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 40 }), options, (elements, o) => {
        const state = stateOf((values) => Float32Array.from(values), elements);
        const inputs = state.params.slice() as ArrayLike<number>;
        const before = Array.from(inputs, (_, i): [number, number, number, number] => [
          state.params[i]!,
          state.grads[i]!,
          state.firstMoments[i]!,
          state.secondMoments[i]!,
        ]);
        adamWInPlace(state, o);
        for (const [i, values] of before.entries()) {
          const [p, m, v] = adamWElement(values, o);
          const g = Math.abs(values[1] * o.gradScale);
          const moment = Math.max(o.beta1 * Math.abs(values[2]), (1 - o.beta1) * g);
          const square = Math.max(o.beta2 * values[3], (1 - o.beta2) * g * g);
          expect(Math.abs(state.firstMoments[i]! - m)).toBeLessThanOrEqual(4 * ulp * moment);
          expect(Math.abs(state.secondMoments[i]! - v)).toBeLessThanOrEqual(4 * ulp * square);
          // The moment's own error reaches the step amplified when its two terms cancel.
          const size = (value: number) =>
            (o.learningRate * value) /
            (1 - o.beta1 ** o.step) /
            (Math.sqrt(v / (1 - o.beta2 ** o.step)) + o.epsilon);
          const bound = 1.5 * ulp * Math.max(Math.abs(values[0]), Math.abs(p)) + 1e-6 * size(moment);
          expect(Math.abs(state.params[i]! - p)).toBeLessThanOrEqual(bound);
        }
      }),
      { ...seeded, numRuns: 300 },
    );
  });

  it("a list of tensors gives the bits of one flat array, whatever the split", () => {
    fc.assert(
      fc.property(
        fc.array(element, { minLength: 2, maxLength: 60 }),
        options,
        fc.nat(),
        (elements, o, where) => {
          const cut = where % elements.length;
          const flat = stateOf((values) => Float32Array.from(values), elements);
          const parts = stateOf((values) => Float32Array.from(values), elements);
          const split = (data: Float32Array) => [data.subarray(0, cut), data.subarray(cut)];
          adamWInPlace(flat, o);
          adamWInPlace(
            {
              params: split(parts.params),
              grads: split(parts.grads),
              firstMoments: split(parts.firstMoments),
              secondMoments: split(parts.secondMoments),
            },
            o,
          );
          for (const key of ["params", "firstMoments", "secondMoments"] as const)
            expectSameBits(parts[key], flat[key]);
        },
      ),
      seeded,
    );
  });

  it("checkGrads changes no bit", () => {
    const run = (checkGrads: boolean) => {
      const state = stateOf(() => new Float32Array(70_001), []);
      noise(state.params, 1);
      noise(state.grads, 2);
      adamWInPlace(state, { step: 1, learningRate: 0.01, checkGrads });
      return state.params;
    };
    expectSameBits(run(false), run(true));
  });

  it("gradScale is the same as scaled gradients", () => {
    const run = (scale: number, gradScale: number) => {
      const grads = noise(new Float64Array(100), 5).map((g) => g * scale);
      const params = noise(new Float64Array(100), 6);
      const state = {
        params,
        grads,
        firstMoments: new Float64Array(100),
        secondMoments: new Float64Array(100),
      };
      adamWInPlace(state, { step: 1, learningRate: 0.1, gradScale });
      return params;
    };
    expectSameBits(run(1, 0.25), run(0.25, 1));
  });

  it("the same bits for 1, 2 and 5 threads", () => {
    const run = (count: number) => {
      setNumThreads(count);
      const state = stateOf(() => new Float32Array(100_003), []);
      noise(state.params, 1);
      noise(state.grads, 2);
      for (const step of [1, 2, 3]) adamWInPlace(state, { step, learningRate: 0.01 });
      return state;
    };
    const once = run(1);
    for (const count of [2, 5]) {
      const again = run(count);
      for (const key of ["params", "firstMoments", "secondMoments"] as const)
        expectSameBits(again[key], once[key]);
    }
  });
});

describe("gradNorm and clipGradNormInPlace", () => {
  const lengths = [0, 1, 3, 31, 32, 33, 1000, 32767, 32768, 32769, 100_003];

  it.each(lengths)("%i elements: within 1e-12 of the reference", (length) => {
    for (const data of [noise(new Float64Array(length), 3), noise(new Float32Array(length), 4)]) {
      const expected = referenceNorm([data]);
      expectClose([gradNorm(data)], [expected], 1e-12 * Math.min(1, expected || 1));
    }
  });

  it("any magnitude: relative error at most 1e-12", () => {
    const exponent = fc.integer({ min: -300, max: 300 });
    fc.assert(
      fc.property(fc.array(fc.tuple(number(9), exponent), { minLength: 1, maxLength: 50 }), (parts) => {
        const data = Float64Array.from(parts, ([x, e]) => x * 10 ** e);
        const expected = referenceNorm([data]);
        const found = gradNorm(data);
        if (expected === 0) expect(found).toBe(0);
        else expect(Math.abs(found / expected - 1)).toBeLessThanOrEqual(1e-12);
      }),
      { ...seeded, numRuns: 300 },
    );
  });

  it("scales with its input and ignores signs", () => {
    const data = noise(new Float64Array(5000), 9);
    expect(gradNorm(data.map((x) => -4 * x))).toBe(4 * gradNorm(data));
  });

  it("the same bits for 1, 2 and 5 threads", () => {
    const tensors = [noise(new Float32Array(70_001), 7), noise(new Float32Array(300_000), 8)];
    const run = (count: number) => {
      setNumThreads(count);
      const copies = tensors.map((tensor) => tensor.slice());
      return { ...clipGradNormInPlace(copies, 0.75), copies };
    };
    const once = run(1);
    for (const count of [2, 5]) {
      const again = run(count);
      expectSameBits([again.norm, again.scale], [once.norm, once.scale]);
      for (const [i, copy] of again.copies.entries()) expectSameBits(copy, once.copies[i]!);
    }
  });

  it("clipScale tells what clipGradNormInPlace does, and writes nothing", () => {
    for (const maxNorm of [0.5, 1e6]) {
      const data = noise(new Float32Array(1000), 12);
      const before = data.slice();
      const told = clipScale([data], maxNorm);
      expectSameBits(data, before);
      expect(told).toEqual(clipGradNormInPlace([data], maxNorm));
      expect(told.scale).toBe(Math.min(1, maxNorm / (told.norm + 1e-6)));
    }
  });

  it("a clipped gradient keeps its direction and has a norm just below maxNorm", () => {
    const data = noise(new Float64Array(1000), 11);
    const before = data.slice();
    const { norm, scale } = clipGradNormInPlace(data, 0.5);
    expect(norm).toBe(gradNorm(before));
    expectSameBits(
      data,
      before.map((x) => x * scale),
    );
    expect(gradNorm(data)).toBeLessThan(0.5);
    expect(gradNorm(data)).toBeGreaterThan(0.5 - 1e-6);
  });
});
