import type { FloatArray } from "../ragged.ts";
import type { TensorArrays, TensorType } from "../tensor.ts";
import type { NativeJob } from "../addon.ts";

type Elements = TensorArrays[TensorType];

/** @internal A matrix argument: data, element kind, rows, columns. */
export type MatrixArguments = [data: Elements, element: number, rows: number, columns: number];

/** @internal Where results go. */
export type OutputArguments = [
  logProbs: FloatArray,
  entropy: FloatArray | null,
  sumSquaredProbs: FloatArray | null,
  logSumExp: Float64Array,
];

/** @internal Forward results and upstream gradients of a backward pass. */
export type GradientArguments = [
  logSumExp: Float64Array,
  entropy: FloatArray | null,
  gradLogProbs: FloatArray,
  gradEntropy: FloatArray | null,
];

/** @internal Arguments of the linear kernels. */
export type LinearArguments = [
  ...hidden: MatrixArguments,
  ...weight: MatrixArguments,
  bias: Elements | null,
  biasElement: number,
];

/** @internal Kernels of bindings/logprob.cc. Jobs resolve to the first row without a defined result, or -1. */
export interface LogProbKernels {
  forward(
    ...args: [...MatrixArguments, targets: Int32Array, temperature: number, ...OutputArguments]
  ): NativeJob;
  backward(
    ...args: [
      ...MatrixArguments,
      targets: Int32Array,
      temperature: number,
      ...GradientArguments,
      gradLogits: Elements,
    ]
  ): NativeJob;
  linearForward(
    ...args: [...LinearArguments, targets: Int32Array, temperature: number, ...OutputArguments]
  ): NativeJob;
  linearBackward(
    ...args: [
      ...LinearArguments,
      targets: Int32Array,
      temperature: number,
      ...GradientArguments,
      gradHidden: FloatArray,
      gradWeight: FloatArray,
      gradBias: FloatArray | null,
    ]
  ): NativeJob;
}
