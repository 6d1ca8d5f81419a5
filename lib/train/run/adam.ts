import { optimizerShape } from "../config/algorithm.ts";
import type { Optimizer } from "../engine/optimizer.ts";
import { type Schedule, scheduled } from "../schedule.ts";

/** @internal Keys of AdamW and its schedule in the config of a phase. */
export function adamShape(learningRate: number) {
  const { epochs: _, miniBatch: __, ...shape } = optimizerShape(learningRate);
  return shape;
}

/** @internal What those keys hold. */
export interface AdamSettings {
  readonly learningRate: number;
  readonly schedule: Schedule["shape"];
  readonly warmup: number;
  readonly finalShare: number;
  readonly betas: readonly [number, number];
  readonly weightDecay: number;
  readonly maxNorm: number;
}

/** @internal Step `step` (from 1 on) of `steps` with the gradients gathered so far; returns its metrics. */
export function adamStep(
  optimizer: Optimizer,
  settings: AdamSettings,
  step: number,
  steps: number,
): { lr: number; grad_norm: number } {
  const { schedule: shape, warmup, finalShare: final, betas, weightDecay, maxNorm } = settings;
  const learningRate = settings.learningRate * scheduled({ shape, warmup, final }, step, steps);
  const [beta1, beta2] = betas;
  const norm = optimizer.step({ learningRate, beta1, beta2, weightDecay, maxNorm });
  return { lr: learningRate, grad_norm: norm };
}
