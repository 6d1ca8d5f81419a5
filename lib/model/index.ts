/**
 * Checkpoints in Hugging Face layout, their tokenizers, and decoders with a head run from the files as they are.
 *
 * @packageDocumentation
 */
export * from "../errors.ts";
export type { ChatMessage } from "./chat.ts";
export { type Checkpoint, openCheckpoint } from "./checkpoint.ts";
export { FAMILIES, type Family, type ModelConfig, parseConfig } from "./config.ts";
export { defaultHead, detectHeads, type FoundHead } from "./heads.ts";
export { type RopeFrequencies, ropeFrequencies } from "./frequencies.ts";
export type { DownloadProgress, HubOptions } from "../hub/hub.ts";
export type { QuantizeProgress } from "./quantized-file.ts";
export type {
  DefaultScaling,
  DynamicScaling,
  LinearScaling,
  Llama3Scaling,
  LongRopeScaling,
  Rope,
  RopeScaling,
  YarnScaling,
} from "./rope.ts";
export { createRunner, type QuantizationError, quantizationError, type RunnerOptions } from "./runner.ts";
export { readSafetensorsHeader, readTensorBytes, type TensorEntry, type WeightType } from "./safetensors.ts";
export { loadTokenizer } from "./tokenizer.ts";
export type {
  Head,
  HeadBatch,
  HeadRunner,
  LmHead,
  LmRowsHead,
  MlpHead,
  RaggedInts,
  ScalarHead,
  TokenClassificationHead,
  Tokenizer,
  TokenTree,
  ValueHead,
} from "./types.ts";
