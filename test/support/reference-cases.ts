// Small checkpoints whose outputs transformers 5.18 gave in float32 (sdpa, torch 2.13, CPU): transformers.json beside
// the test that reads it. Weights come from the seed, so that only numbers are stored.
import { backbone, random, type TestTensors, tensor } from "./checkpoint.ts";
import type { Head } from "../../lib/model/types.ts";

export interface ReferenceCase {
  config: Record<string, unknown>;
  dtype: "BF16" | "F16" | "F32";
  /** Rows are this long, and a third of it. */
  length: number;
  head: Head;
  /** What the head's tensors add to the backbone, or take from it. */
  change?: (tensors: TestTensors) => TestTensors;
  shards?: number;
}

const SIZES = {
  vocab_size: 61,
  hidden_size: 32,
  intermediate_size: 40,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 256,
  rms_norm_eps: 1e-5,
  hidden_act: "silu",
  tie_word_embeddings: false,
};
const make = (dtype: ReferenceCase["dtype"], ...shape: number[]) => tensor(random(77), dtype, shape, 0.5);
const rows = { kind: "lm-rows", tokenIds: [10, 12] } as const;
const small = { max_position_embeddings: 32 };
const rename = (prefix: string, tensors: TestTensors): TestTensors =>
  Object.fromEntries(Object.entries(tensors).map(([name, value]) => [prefix + name, value]));
const without = (name: string, { [name]: _, ...rest }: TestTensors): TestTensors => rest;

export const referenceCases: Record<string, ReferenceCase> = {
  "Llama, linear scaling, biases": {
    config: {
      ...small,
      model_type: "llama",
      attention_bias: true,
      mlp_bias: true,
      rope_scaling: { type: "linear", factor: 4 },
    },
    dtype: "F16",
    length: 90,
    head: rows,
  },
  "Llama, dynamic scaling beyond its positions": {
    config: { ...small, model_type: "llama", rope_scaling: { rope_type: "dynamic", factor: 4 } },
    dtype: "F32",
    length: 90,
    head: rows,
  },
  "Llama, llama3 scaling, in shards": {
    config: {
      model_type: "llama",
      rope_parameters: {
        rope_type: "llama3",
        rope_theta: 5000,
        factor: 8,
        low_freq_factor: 1,
        high_freq_factor: 4,
        original_max_position_embeddings: 32,
      },
    },
    dtype: "BF16",
    length: 120,
    head: rows,
    shards: 3,
  },
  "Qwen2, YaRN with all its settings": {
    config: {
      ...small,
      model_type: "qwen2",
      rope_theta: 1000,
      rope_scaling: {
        rope_type: "yarn",
        factor: 8,
        original_max_position_embeddings: 32,
        beta_fast: 4,
        beta_slow: 0.5,
        mscale: 1,
        mscale_all_dim: 0.7,
        truncate: false,
      },
    },
    dtype: "BF16",
    length: 150,
    head: rows,
  },
  "Qwen2, YaRN with its own factor on cos and sin": {
    config: {
      ...small,
      model_type: "qwen2",
      rope_parameters: {
        rope_type: "yarn",
        rope_theta: 10000,
        factor: 4,
        original_max_position_embeddings: 32,
        attention_factor: 0.8,
      },
    },
    dtype: "BF16",
    length: 100,
    head: rows,
  },
  "Llama, LongRoPE on both sides of its length": {
    config: {
      model_type: "llama",
      head_dim: 8,
      rope_scaling: {
        rope_type: "longrope",
        short_factor: [1, 1.1, 1.3, 1.6],
        long_factor: [1.5, 2, 4, 7],
        original_max_position_embeddings: 32,
      },
    },
    dtype: "BF16",
    length: 66,
    head: rows,
  },
  "Mistral, a window shorter than the text": {
    config: { model_type: "mistral", sliding_window: 7, head_dim: 12, num_key_value_heads: 1 },
    dtype: "BF16",
    length: 60,
    head: rows,
  },
  "Qwen3, windows by layer, heads wider than the model": {
    config: {
      model_type: "qwen3",
      head_dim: 24,
      use_sliding_window: true,
      sliding_window: 6,
      layer_types: ["sliding_attention", "full_attention", "sliding_attention"],
    },
    dtype: "F16",
    length: 60,
    head: rows,
  },
  "Qwen2, window from the second layer, seven queries to a key": {
    config: {
      model_type: "qwen2",
      hidden_size: 56,
      num_attention_heads: 7,
      num_key_value_heads: 1,
      use_sliding_window: true,
      sliding_window: 5,
      max_window_layers: 1,
    },
    dtype: "BF16",
    length: 45,
    head: rows,
  },
  "a value head beside an LM head, wrapped": {
    config: { model_type: "qwen2" },
    dtype: "BF16",
    length: 40,
    head: { kind: "value" },
    change: (t) => ({
      ...rename("pretrained_model.", t),
      "v_head.summary.weight": make("F32", 1, 32),
      "v_head.summary.bias": make("F32", 1),
    }),
  },
  "two classes in float32 on a bfloat16 body, beside an LM head": {
    config: { model_type: "qwen3", head_dim: 8 },
    dtype: "BF16",
    length: 40,
    head: { kind: "token-classification", classes: 2 },
    change: (t) => ({ ...t, "score.weight": make("F32", 2, 32), "score.bias": make("F32", 2) }),
    shards: 2,
  },
  "tied by its config, with an LM head of its own": {
    config: { model_type: "llama", tie_word_embeddings: true },
    dtype: "BF16",
    length: 40,
    head: rows,
    change: (t) => ({ ...t, "lm_head.weight": make("BF16", 61, 32) }),
  },
  "tied, of which only the LM head is stored": {
    config: { model_type: "llama", tie_word_embeddings: true },
    dtype: "BF16",
    length: 40,
    head: rows,
    change: (t) => ({
      ...without("model.embed_tokens.weight", t),
      "lm_head.weight": t["model.embed_tokens.weight"]!,
    }),
  },
};

/** Config, tensors and rows of a case. */
export function buildCase({ config, dtype, length, change = (tensors) => tensors }: ReferenceCase) {
  const full = { ...SIZES, ...config } as typeof SIZES & { model_type: string };
  const uniform = random(9);
  const texts = [length, Math.ceil(length / 3)].map((size) => ({
    ids: Array.from({ length: size }, () => Math.floor(uniform() * full.vocab_size)),
    reads: [0, Math.floor(size / 2), size - 1],
  }));
  return { config: full, tensors: change(backbone(full, dtype)), rows: texts };
}
