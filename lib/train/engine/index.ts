export { createModel, loadModel, type ModelOptions, readConfig } from "./create.ts";
export type { Generated, GenerateOptions } from "./generate.ts";
export type { EngineHeads } from "./heads.ts";
export { LORA_TARGETS, type LoraOptions } from "./lora.ts";
export { type ForwardOptions, KEEP, TrainableModel, type Training } from "./model.ts";
export { type Moments, Optimizer, type StepOptions } from "./optimizer.ts";
export type { Parameter } from "./parameters.ts";
export type { BackwardInput, Pass, PassLogProbOptions, PassLogProbs } from "./pass.ts";
export { saveModel, type SaveOptions } from "./save.ts";
