// Small PRM checkpoints of random weights with a byte-level tokenizer, and what their heads must read, in float64.
import { join } from "node:path";
import { affine, referenceHidden } from "../reference/decoder.ts";
import {
  backbone,
  random,
  type TestTensor,
  type TestTensors,
  tensor,
  writeCheckpoint,
} from "./checkpoint.ts";
import { writeTokenizer } from "./tokenizer.ts";

const config = {
  architectures: ["Qwen2ForCausalLM"],
  model_type: "qwen2",
  vocab_size: 304,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  max_position_embeddings: 512,
  tie_word_embeddings: false,
};

export interface GeneratedCheckpoint {
  readonly folder: string;
  readonly tensors: TestTensors;
  /** Hidden states behind the last norm, one row per id. */
  hidden(ids: readonly number[]): Float64Array[];
}

export const hiddenSize = config.hidden_size;

/** Random tensors of a head. */
export const headTensor = (seed: number, ...shape: number[]): TestTensor =>
  tensor(random(seed), "F32", shape, 0.7);

/** Writes backbone, tokenizer and head; an LM head only where it is the head. */
export function writePrm(
  root: string,
  name: string,
  head: TestTensors | "lm",
  seed = 1,
): GeneratedCheckpoint {
  const { "lm_head.weight": lm, ...body } = backbone(config, "F32", seed);
  const tensors = { ...body, ...(head === "lm" ? { "lm_head.weight": lm! } : head) };
  const folder = writeCheckpoint(join(root, name), config, tensors);
  writeTokenizer(folder);
  return { folder, tensors, hidden: (ids) => referenceHidden(config, tensors, { ids: [...ids] }) };
}

/** `x W^T + b` of one hidden state. */
export function linear(x: Float64Array, weight: TestTensor, bias?: TestTensor): Float64Array {
  return affine([x], weight.values, bias?.values)[0]!;
}
