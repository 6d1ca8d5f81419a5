import type { NativeArray } from "../cuda/kernels.ts";
import type { DeviceTensor } from "../cuda/tensor.ts";
import type { FloatArray, Values } from "../ragged.ts";

/** @internal Kernels of bindings/optim.cc. */
export interface OptimKernels {
  firstUnusable(grads: Values, gradScale: number, guard: NativeArray | null): number;
  adamW(
    params: Values,
    grads: Values,
    firstMoments: Values,
    secondMoments: Values,
    step: number,
    learningRate: number,
    beta1: number,
    beta2: number,
    epsilon: number,
    weightDecay: number,
    gradScale: number,
    guard: NativeArray | null,
  ): number;
  /** On the device only. `found` receives { norm, scale }; what follows are the gradients, a word array and a word. */
  gradNorm(maxNorm: number, found: NativeArray, ...gradsAndWords: [...NativeArray[], number]): void;
  sumOfSquares(values: FloatArray, scale: number): number;
  largestMagnitude(values: FloatArray): { largest: number; bad: number };
  scale(values: Values, factor: number | DeviceTensor<"float64">): number;
}
