import type { NativeArray } from "../cuda/kernels.ts";
import type { DeviceTensor } from "../cuda/tensor.ts";
import type { FloatArray, Values } from "../ragged.ts";

/** @internal Kernels of bindings/optim.cc. */
export interface OptimKernels {
  firstUnusable(
    grads: Values,
    gradScale: number,
    deviceScale: DeviceTensor<"float64"> | null,
    guard: NativeArray | null,
  ): number;
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
    deviceScale: DeviceTensor<"float64"> | null,
    guard: NativeArray | null,
  ): number;
  /** `found` receives { norm, scale }. Returns a status per tensor. */
  gradNorm(maxNorm: number, found: Float64Array, ...grads: FloatArray[]): number[];
  /** The same on the device; what follows the gradients is a word array and the first of as many words as tensors. */
  gradNorm(maxNorm: number, found: NativeArray, ...gradsAndWords: [...NativeArray[], number]): void;
  scale(values: Values, factor: number | DeviceTensor<"float64">): number;
}
