import { z } from "zod";
import { InputError } from "../errors.ts";
import { parseRope, type Rope } from "./rope.ts";

/** Architectures whose layers this library knows: `model_type` of config.json. */
export const FAMILIES = ["qwen2", "qwen3", "llama", "mistral"] as const;

/** One of {@link FAMILIES}. */
export type Family = (typeof FAMILIES)[number];

/** What config.json says about a decoder, in one spelling. */
export interface ModelConfig {
  /** Which layers: biases, norms of queries and keys, windows. */
  readonly family: Family;
  /** First entry of `architectures`, for example `Qwen2ForTokenClassification`; empty when the file has none. */
  readonly architecture: string;
  /** Width of the residual stream. */
  readonly hiddenSize: number;
  /** Width of the gated MLP. */
  readonly intermediateSize: number;
  /** Number of layers. */
  readonly layers: number;
  /** Number of query heads. */
  readonly heads: number;
  /** Number of key and value heads; divides `heads`. */
  readonly kvHeads: number;
  /** Width of a head. */
  readonly headDim: number;
  /** Rows of the embedding. */
  readonly vocabSize: number;
  /** Longest input in tokens, extended by the rotary scaling where that extends it. */
  readonly maxLength: number;
  /** Epsilon of every RMS norm. */
  readonly rmsEpsilon: number;
  /** Rotary frequencies. */
  readonly rope: Rope;
  /** Per layer: a query sees the last so many tokens, itself included; `null` for all. */
  readonly windows: readonly (number | null)[];
  /** Whether the LM head is the embedding; `undefined` when the file does not say. */
  readonly tied: boolean | undefined;
  /** Whether queries, keys and values have biases. */
  readonly qkvBias: boolean;
  /** Whether the attention's output projection has a bias. */
  readonly outputBias: boolean;
  /** Whether the MLP has biases. */
  readonly mlpBias: boolean;
  /** Whether queries and keys are normalised per head. */
  readonly qkNorm: boolean;
}

const size = z.number().int().positive();

// Deeper than any model: a nonsense number must not become a list of that length.
const MAX_LAYERS = 10_000;

const schema = z.looseObject({
  model_type: z.string().nullish(),
  architectures: z.array(z.string()).nullish(),
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: size.max(MAX_LAYERS),
  num_attention_heads: size,
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  vocab_size: size,
  max_position_embeddings: size.nullish(),
  rms_norm_eps: z.number().positive().nullish(),
  hidden_act: z.string().nullish(),
  tie_word_embeddings: z.boolean().nullish(),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  use_sliding_window: z.boolean().nullish(),
  sliding_window: size.nullish(),
  max_window_layers: z.number().int().nonnegative().nullish(),
  layer_types: z.array(z.string()).nullish(),
});

type Raw = z.infer<typeof schema>;

// What a config.json means that leaves these out: the defaults of the reference configuration classes.
const DEFAULTS: Record<Family, { maxLength: number; headDim?: number; window: number | null }> = {
  qwen2: { maxLength: 32768, window: 4096 },
  qwen3: { maxLength: 32768, headDim: 128, window: 4096 },
  llama: { maxLength: 2048, window: null },
  mistral: { maxLength: 131072, window: 4096 },
};

/**
 * Reads a config.json, in the spelling before transformers 5 (`rope_theta`, `rope_scaling`) or the one since
 * (`rope_parameters`).
 *
 * @param json - the parsed file
 * @param file - its name, for messages
 * @throws {@link InputError} `ERR_INPUT` naming the field, or what the architecture needs that this library lacks
 */
export function parseConfig(json: unknown, file = "config.json"): ModelConfig {
  const family = findFamily(json, file);
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw new InputError("ERR_INPUT", `${file}: ${issue.path.join(".") || "the file"}: ${issue.message}`);
  }
  const raw = parsed.data;
  const fail = (message: string): never => {
    throw new InputError("ERR_INPUT", `${file}: ${message}`);
  };
  const activation = raw.hidden_act ?? "silu";
  if (activation !== "silu") fail(`hidden_act: expected "silu", got ${JSON.stringify(activation)}`);
  const heads = raw.num_attention_heads;
  const kvHeads = raw.num_key_value_heads ?? heads;
  if (heads % kvHeads !== 0) {
    fail(`num_key_value_heads: expected a divisor of num_attention_heads ${heads}, got ${kvHeads}`);
  }
  const headDim = raw.head_dim ?? DEFAULTS[family].headDim ?? Math.floor(raw.hidden_size / heads);
  if (headDim < 2 || headDim % 2 !== 0) fail(`head_dim: expected an even number, got ${headDim}`);
  const positions = raw.max_position_embeddings ?? DEFAULTS[family].maxLength;
  const rope = parseRope(raw, { headDim, positions, file });
  return {
    family,
    architecture: raw.architectures?.[0] ?? "",
    hiddenSize: raw.hidden_size,
    intermediateSize: raw.intermediate_size,
    layers: raw.num_hidden_layers,
    heads,
    kvHeads,
    headDim,
    vocabSize: raw.vocab_size,
    maxLength: rope.maxLength,
    rmsEpsilon: raw.rms_norm_eps ?? 1e-6,
    rope,
    windows: windows(family, raw, fail),
    tied: raw.tie_word_embeddings ?? undefined,
    qkvBias: family === "qwen2" || (family !== "mistral" && (raw.attention_bias ?? false)),
    outputBias: (family === "llama" || family === "qwen3") && (raw.attention_bias ?? false),
    mlpBias: family === "llama" && (raw.mlp_bias ?? false),
    qkNorm: family === "qwen3",
  };
}

function findFamily(json: unknown, file: string): Family {
  if (json === null || typeof json !== "object" || Array.isArray(json)) {
    throw new InputError("ERR_INPUT", `${file}: expected an object`);
  }
  const { model_type, architectures, quantization_config } = json as Record<string, unknown>;
  const name =
    typeof model_type === "string"
      ? model_type
      : Array.isArray(architectures) && typeof architectures[0] === "string"
        ? architectures[0].replace(/(For|Model).*$/, "").toLowerCase()
        : undefined;
  if (name === undefined) throw new InputError("ERR_INPUT", `${file}: model_type: expected a name, got none`);
  const family = FAMILIES.find((known) => known === name);
  if (family === undefined) {
    throw new InputError(
      "ERR_INPUT",
      `${file}: model_type: expected one of ${FAMILIES.join(", ")}, got ${JSON.stringify(name)}: ` +
        "its layers are not known here",
    );
  }
  if (quantization_config !== undefined && quantization_config !== null) {
    throw new InputError(
      "ERR_INPUT",
      `${file}: quantization_config: expected a checkpoint in bfloat16, float16 or float32; quantised weights are not read`,
    );
  }
  return family;
}

function windows(family: Family, raw: Raw, fail: (message: string) => never): (number | null)[] {
  const all = (window: (layer: number) => number | null) =>
    Array.from({ length: raw.num_hidden_layers }, (_, layer) => window(layer));
  if (family === "llama") return all(() => null);
  const width = raw.sliding_window === undefined ? DEFAULTS[family].window : raw.sliding_window;
  if (family === "mistral") return all(() => width);
  if (raw.use_sliding_window !== true || width === null) return all(() => null);
  const types = raw.layer_types;
  if (types === undefined || types === null) {
    return all((layer) => (layer >= (raw.max_window_layers ?? 28) ? width : null));
  }
  if (types.length !== raw.num_hidden_layers) {
    fail(`layer_types: expected ${raw.num_hidden_layers} entries, got ${types.length}`);
  }
  return types.map((type, layer) => {
    if (type === "sliding_attention") return width;
    if (type === "full_attention") return null;
    return fail(`layer_types[${layer}]: expected full_attention or sliding_attention, got ${type}`);
  });
}
