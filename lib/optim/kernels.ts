import type { FloatArray } from "../ragged.ts";

/** @internal Kernels of bindings/optim.cc. */
export interface OptimKernels {
  firstUnusable(grads: FloatArray, gradScale: number): number;
  adamW(
    params: FloatArray,
    grads: FloatArray,
    firstMoments: FloatArray,
    secondMoments: FloatArray,
    step: number,
    learningRate: number,
    beta1: number,
    beta2: number,
    epsilon: number,
    weightDecay: number,
    gradScale: number,
  ): number;
  sumOfSquares(values: FloatArray, scale: number): number;
  largestMagnitude(values: FloatArray): { largest: number; bad: number };
  scale(values: FloatArray, factor: number): void;
}
