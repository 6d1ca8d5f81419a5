import type { DeviceTensor } from "../cuda/tensor.ts";
import type { Values } from "../ragged.ts";
import type { PlacedTensor } from "../tensor.ts";
import type { NativeJob } from "../addon.ts";

type Elements = PlacedTensor["data"];

/** @internal One token id per row. */
export type Targets = Int32Array | DeviceTensor<"int32">;

/** @internal A matrix argument: data, element kind, rows, columns. */
export type MatrixArguments = [data: Elements, element: number, rows: number, columns: number];

/** @internal Where results go. */
export type OutputArguments = [
  logProbs: Values,
  entropy: Values | null,
  sumSquaredProbs: Values | null,
  logSumExp: Values,
];

/** @internal Forward results and upstream gradients of a backward pass. */
export type GradientArguments = [
  logSumExp: Values,
  entropy: Values | null,
  gradLogProbs: Values,
  gradEntropy: Values | null,
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
    ...args: [...MatrixArguments, targets: Targets, temperature: number, ...OutputArguments]
  ): NativeJob;
  backward(
    ...args: [
      ...MatrixArguments,
      targets: Targets,
      temperature: number,
      ...GradientArguments,
      gradLogits: Elements,
    ]
  ): NativeJob;
  linearForward(
    ...args: [...LinearArguments, targets: Targets, temperature: number, ...OutputArguments]
  ): NativeJob;
  linearBackward(
    ...args: [
      ...LinearArguments,
      targets: Targets,
      temperature: number,
      ...GradientArguments,
      gradHidden: Values,
      gradWeight: Values,
      gradBias: Values | null,
    ]
  ): NativeJob;
}
