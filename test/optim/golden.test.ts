// torch.optim.AdamW and torch.nn.utils.clip_grad_norm_ (goldens/generate.py), and values worked out by hand.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type AdamWOptions, adamWInPlace, clipGradNormInPlace, gradNorm } from "../../lib/index.ts";
import { expectClose } from "../support/compare.ts";

interface Goldens {
  adamW: Record<Dtype, { options: Omit<AdamWOptions, "step">; initial: number[]; steps: Step[] }[]>;
  clip: Record<Dtype, { maxNorm: number; grads: number[][]; norm: number; clipped: number[][] }[]>;
}
type Dtype = "float32" | "float64";
type Step = Record<"grads" | "params" | "firstMoments" | "secondMoments", number[]>;

const goldens = JSON.parse(readFileSync(new URL("./goldens/torch.json", import.meta.url), "utf8")) as Goldens;
const arrays = { float32: Float32Array, float64: Float64Array };
// Relative to max(1, |value|), over four steps. Both sides round in float32; the two orders of operations differ.
const bounds = { float32: 5e-7, float64: 1e-14 };

/** Relative to the value itself. */
function expectRelative(actual: ArrayLike<number>, expected: number[], relative: number): void {
  expectClose(
    Array.from(actual, (value, i) => (expected[i] === 0 ? value : value / expected[i]!)),
    expected.map((value) => (value === 0 ? 0 : 1)),
    relative,
  );
}

describe.each(["float32", "float64"] as const)("optim golden values, %s", (dtype) => {
  const of = (values: number[]) => arrays[dtype].from(values);

  it.each(goldens.adamW[dtype].map((golden) => [JSON.stringify(golden.options), golden] as const))(
    "four steps of torch.optim.AdamW, %s",
    (_, golden) => {
      const params = of(golden.initial);
      const firstMoments = of(golden.initial.map(() => 0));
      const secondMoments = firstMoments.slice();
      for (const [i, step] of golden.steps.entries()) {
        const state = { params, grads: of(step.grads), firstMoments, secondMoments };
        adamWInPlace(state, { ...golden.options, step: i + 1 });
        expectClose(params, step.params, bounds[dtype]);
        expectClose(firstMoments, step.firstMoments, bounds[dtype]);
        expectRelative(secondMoments, step.secondMoments, bounds[dtype]);
      }
    },
  );

  it.each(goldens.clip[dtype].map((golden) => [golden.maxNorm, golden] as const))(
    "clip_grad_norm_ to %s",
    (maxNorm, golden) => {
      const grads = golden.grads.map(of);
      expectClose([gradNorm(grads)], [golden.norm], bounds[dtype]);
      const { norm, scale } = clipGradNormInPlace(grads, maxNorm);
      expectClose([norm, scale], [golden.norm, Math.min(1, maxNorm / (golden.norm + 1e-6))], bounds[dtype]);
      for (const [i, tensor] of grads.entries()) expectClose(tensor, golden.clipped[i]!, bounds[dtype]);
    },
  );
});

describe("optim by hand", () => {
  it("the first step moves every parameter by learningRate against the sign of its gradient", () => {
    const params = Float64Array.of(1, 1, 1, 1);
    const grads = Float64Array.of(1e-3, -1e-3, 1e3, 0);
    adamWInPlace(
      { params, grads, firstMoments: new Float64Array(4), secondMoments: new Float64Array(4) },
      { step: 1, learningRate: 0.1, weightDecay: 0, epsilon: 1e-30 },
    );
    expectClose(params, [0.9, 1.1, 0.9, 1], 1e-14);
  });

  it("weight decay is decoupled: without a gradient p shrinks by 1 - learningRate weightDecay", () => {
    const params = Float64Array.of(2);
    const zero = () => new Float64Array(1);
    adamWInPlace(
      { params, grads: zero(), firstMoments: zero(), secondMoments: zero() },
      { step: 1, learningRate: 0.5, weightDecay: 0.1 },
    );
    expect(params[0]).toBe(2 * 0.95);
  });

  it("a fresh parameter without gradient or decay stays exactly where it is", () => {
    const params = Float32Array.of(0.1, -3);
    const zero = () => new Float32Array(2);
    adamWInPlace(
      { params, grads: zero(), firstMoments: zero(), secondMoments: zero() },
      { step: 1, learningRate: 0.5, weightDecay: 0 },
    );
    expect(params).toEqual(Float32Array.of(0.1, -3));
  });

  it("norms: 3-4-5 across tensors, nothing, huge and tiny", () => {
    expect(gradNorm([Float64Array.of(3), Float64Array.of(0, 4)])).toBe(5);
    expect(gradNorm(new Float32Array(3))).toBe(0);
    expect(gradNorm(new Float64Array(0))).toBe(0);
    expectClose([gradNorm(Float32Array.of(3e30, 4e30)) / 5e30], [1], 1e-7);
    expectClose([gradNorm(Float64Array.of(3e300, -4e300)) / 5e300], [1], 1e-15);
    expectClose([gradNorm(Float64Array.of(3e-300, 4e-300)) / 5e-300], [1], 1e-15);
    expect(gradNorm(Float64Array.of(Number.MIN_VALUE))).toBe(Number.MIN_VALUE);
    expect(gradNorm(Float64Array.of(Number.MAX_VALUE))).toBe(Number.MAX_VALUE);
  });

  it("clipping to 0 gives zeros; gradients within maxNorm are not touched", () => {
    const grads = Float64Array.of(3, 4);
    expect(clipGradNormInPlace(grads, 6)).toEqual({ norm: 5, scale: 1 });
    expect(grads).toEqual(Float64Array.of(3, 4));
    expect(clipGradNormInPlace(grads, 0)).toEqual({ norm: 5, scale: 0 });
    expect(grads).toEqual(Float64Array.of(0, 0));
  });
});
