import type { NativeJob } from "../addon.ts";
import type { DeviceTensor } from "../cuda/tensor.ts";
import type { MatrixArguments } from "../logprob/kernels.ts";
import type { Values } from "../ragged.ts";

/** @internal A checked rule as the native core takes it. */
export type RuleArguments = [temperature: number, topK: number, topP: number, minP: number];

/** @internal A 64-bit seed as two words. */
export type SeedArguments = [low: number, high: number];

/** @internal Kernels of bindings/sampling.cc. The job resolves to the first row without a distribution, or -1. */
export interface SamplingKernels {
  sample(
    ...args: [
      ...MatrixArguments,
      ...RuleArguments,
      ...SeedArguments,
      counters: Int32Array,
      tokens: Int32Array | DeviceTensor<"int32">,
      logProbs: Values | null,
      truncatedLogProbs: Values | null,
    ]
  ): NativeJob;
}
