/**
 * Process-supervised RL primitives: credit assignment, advantages, losses, log-probs, optimiser and metrics.
 *
 * @packageDocumentation
 */
export * from "./advantage/index.ts";
export * from "./credit/index.ts";
export * from "./cuda/index.ts";
export * from "./device.ts";
export * from "./errors.ts";
export * from "./logprob/index.ts";
export * from "./loss/index.ts";
export * from "./metrics/index.ts";
export * from "./optim/index.ts";
export * from "./presets/index.ts";
export * from "./ragged.ts";
export * from "./sampling/index.ts";
export type { ResultArray, ResultType, Tensor, TensorArrays, TensorType } from "./tensor.ts";
