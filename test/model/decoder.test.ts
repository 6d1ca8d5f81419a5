import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ReferenceConfig, referenceHidden } from "../reference/decoder.ts";
import { backbone, random, temporaryFolder, writeCheckpoint } from "../support/checkpoint.ts";
import { expectClose } from "../support/compare.ts";
import { applyHead, ints, openSession, runAll } from "../support/model.ts";

const SIZES = {
  vocab_size: 53,
  hidden_size: 24,
  intermediate_size: 40,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 32,
  rms_norm_eps: 1e-5,
  hidden_act: "silu",
};
const all = Array.from({ length: SIZES.vocab_size }, (_, i) => i);
const long = { max_position_embeddings: 128 };
const factors = { short_factor: [1, 1.1, 1.3], long_factor: [1.5, 2, 4] };

// Float32 against float64: random layers amplify rounding, so the bound is that of the sums, not of one operation.
const BOUND = 2e-5;

const cases: Record<
  string,
  { config: Record<string, unknown>; length?: number; windows?: (number | null)[] }
> = {
  "Llama, no biases": { config: { model_type: "llama" } },
  "Llama, biases everywhere": { config: { model_type: "llama", attention_bias: true, mlp_bias: true } },
  "Llama, tied, one head of keys": {
    config: { model_type: "llama", tie_word_embeddings: true, num_key_value_heads: 1 },
  },
  "Llama, linear scaling": {
    config: { model_type: "llama", rope_scaling: { type: "linear", factor: 3 } },
    length: 70,
  },
  "Llama, dynamic scaling, short row": {
    config: { model_type: "llama", rope_scaling: { type: "dynamic", factor: 3 } },
    length: 20,
  },
  "Llama, dynamic scaling, long row": {
    config: { model_type: "llama", rope_scaling: { type: "dynamic", factor: 3 } },
    length: 70,
  },
  "Llama 3.1 scaling": {
    config: {
      ...long,
      model_type: "llama",
      rope_scaling: {
        rope_type: "llama3",
        factor: 8,
        low_freq_factor: 1,
        high_freq_factor: 4,
        original_max_position_embeddings: 16,
      },
      rope_theta: 500,
    },
    length: 60,
  },
  "Qwen2, YaRN": {
    config: {
      model_type: "qwen2",
      rope_parameters: {
        rope_type: "yarn",
        rope_theta: 1000,
        factor: 4,
        original_max_position_embeddings: 32,
      },
    },
    length: 60,
  },
  "Llama, LongRoPE, short row": {
    config: {
      ...long,
      model_type: "llama",
      rope_scaling: { rope_type: "longrope", ...factors, original_max_position_embeddings: 32 },
    },
    length: 30,
  },
  "Llama, LongRoPE, long row": {
    config: {
      ...long,
      model_type: "llama",
      rope_scaling: { rope_type: "longrope", ...factors, original_max_position_embeddings: 32 },
    },
    length: 60,
  },
  "Mistral, window": { config: { model_type: "mistral", sliding_window: 5 }, windows: [5, 5, 5] },
  "Mistral, heads wider than the model": {
    config: { model_type: "mistral", sliding_window: null, head_dim: 10 },
  },
  "Qwen2, window from the second layer": {
    config: { model_type: "qwen2", use_sliding_window: true, sliding_window: 4, max_window_layers: 1 },
    windows: [null, 4, 4],
  },
  "Qwen3, layer types": {
    config: {
      model_type: "qwen3",
      head_dim: 8,
      use_sliding_window: true,
      sliding_window: 6,
      layer_types: ["sliding_attention", "full_attention", "sliding_attention"],
    },
    windows: [6, null, 6],
  },
};

describe("every architecture agrees with a float64 forward", async () => {
  const folder = await temporaryFolder();
  for (const [name, { config, length = 30, windows }] of Object.entries(cases)) {
    for (const dtype of ["BF16", "F16", "F32"] as const) {
      test(`${name}, ${dtype}`, async () => {
        const full = { ...SIZES, ...config } as typeof SIZES & { model_type: string };
        const tensors = backbone(full, dtype);
        const path = writeCheckpoint(join(folder, `${name}-${dtype}`), full, tensors);
        const session = await openSession(path, { kind: "lm-rows", tokenIds: all });
        const uniform = random(5);
        const ids = Array.from({ length }, () => Math.floor(uniform() * SIZES.vocab_size));
        const reads = ids.map((_, i) => i);
        const actual = await runAll(session, { ids: ints([ids]), reads: ints([reads]) });
        const reference: ReferenceConfig = { ...full, ...(windows ? { windows } : {}) };
        const hidden = referenceHidden(reference, tensors, { ids });
        const head = tensors["lm_head.weight"] ?? tensors["model.embed_tokens.weight"]!;
        expectClose(actual, applyHead(hidden, head), BOUND);
      });
    }
  }
});

test("the reference tells a scaled rotation from a plain one", () => {
  const config = { ...SIZES, model_type: "llama" };
  const tensors = backbone(config, "F32");
  const ids = all.slice(0, 30);
  const plain = referenceHidden(config, tensors, { ids });
  const scaled = referenceHidden({ ...config, rope_scaling: { type: "linear", factor: 3 } }, tensors, {
    ids,
  });
  expect(Math.abs(plain[29]![0]! - scaled[29]![0]!)).toBeGreaterThan(1e-3);
});
