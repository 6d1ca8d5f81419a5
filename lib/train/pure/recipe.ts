import type { TrainConfigInput } from "../config/schema.ts";
import type { PrmConfig } from "../prm/train.ts";
import type { SftConfig } from "../sft/train.ts";

const ADAM = { betas: [0.9, 0.95] as [number, number], weightDecay: 0.01 };

/** The base model of the embedded task, from nothing: 1000 steps of the mixture. */
export function embeddedSft(seed: number): SftConfig {
  return {
    model: "arithmetic",
    data: "arithmetic",
    seed,
    steps: 1000,
    batch: 32,
    learningRate: 4e-3,
    schedule: "cosine",
    warmup: 50,
    finalShare: 0.1,
    ...ADAM,
  };
}

/**
 * The PRM of the embedded task, on 20 000 solutions of the base model. Learning rates are those of a model of 100 000
 * parameters that is trained for minutes: PURE's own are the defaults of {@link PrmConfig}.
 */
export function embeddedPrm(model: string, seed: number): PrmConfig {
  return {
    model,
    data: "arithmetic",
    seed,
    separator: "\n\n",
    headWidth: 128,
    samples: 20_000,
    head: { epochs: 1, batch: 16, learningRate: 5e-3 },
    all: { epochs: 4, batch: 16, learningRate: 2e-3, schedule: "cosine", warmup: 50, betas: [0.9, 0.99] },
  };
}

/** PURE-PRM+VR on the embedded task: soft min-form credit, RLOO, a KL penalty in the loss. */
export function embeddedRl(model: string, prm: string, seed: number, steps: number): TrainConfigInput {
  return {
    name: "PURE-PRM+VR, embedded arithmetic",
    seed,
    steps,
    model: { path: model },
    data: { train: "arithmetic:train", eval: "arithmetic:held-out" },
    rollout: { prompts: 16, n: 8, maxTokens: 60 },
    reward: { mode: "prm+vr", prm, verifier: "hendrycks" },
    algorithm: { estimator: "rloo", baseline: "token", normalize: "scale" },
    kl: { place: "loss", coefficient: 0.05 },
    actor: { learningRate: 5e-4, warmup: 10, betas: ADAM.betas, miniBatch: 8 },
    eval: { every: 20, prompts: 200 },
  };
}

/** Configs of the parts of {@link runPure}. */
export interface Recipe {
  /** The base model. */
  sft(seed: number): SftConfig;
  /** The PRM on the base model in a folder. */
  prm(base: string, seed: number): PrmConfig;
  /** RL from the base model with the PRM. */
  rl(base: string, prm: string, seed: number, steps: number): TrainConfigInput;
}

/** The recipe of `npm run pure`. */
export const EMBEDDED_RECIPE: Recipe = { sft: embeddedSft, prm: embeddedPrm, rl: embeddedRl };
