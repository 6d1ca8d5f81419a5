import type { AdvantageKernels } from "./advantage/kernels.ts";
import type { DeviceKernels } from "./cuda/kernels.ts";
import type { CreditKernels } from "./credit/kernels.ts";
import type { LogProbKernels } from "./logprob/kernels.ts";
import type { LossKernels } from "./loss/kernels.ts";
import type { MetricsKernels } from "./metrics/kernels.ts";
import type { OptimKernels } from "./optim/kernels.ts";
import type { PresetKernels } from "./presets/kernels.ts";
import type { QuantKernels } from "./quant/kernels.ts";
import type { SamplingKernels } from "./sampling/kernels.ts";
import type { ModelKernels } from "./train/engine/kernels.ts";

/**
 * @internal The typed description of the native addon. Every family describes its own kernels; statuses are the flat
 * index of the first value that must not be NaN and is, or -1. `null` stands for an argument left out.
 */
export interface Addon {
  capabilities(): {
    isaDetected: string;
    isaInUse: string;
    isaCapError?: string;
    cudaCompiled: boolean;
    cudaDevices: number;
    cudaReason: string;
  };
  getNumThreads(): number;
  setNumThreads(threads: number): void;
  advantage: AdvantageKernels;
  credit: CreditKernels;
  device: DeviceKernels;
  logprob: LogProbKernels;
  loss: LossKernels;
  metrics: MetricsKernels;
  model: ModelKernels;
  optim: OptimKernels;
  presets: PresetKernels;
  quant: QuantKernels;
  sampling: SamplingKernels;
}

/** @internal A long kernel under way; `cancel` makes it end early with status -2. */
export interface NativeJob {
  promise: Promise<number>;
  cancel(): void;
}
