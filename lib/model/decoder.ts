import { InputError } from "../errors.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { TensorEntry } from "./safetensors.ts";
import { isWeightType } from "./weights.ts";

/** @internal A weight `[out, in]` with an optional bias `[out]`: `y = x W^T + b`. */
export interface Linear {
  readonly weight: TensorEntry;
  readonly bias: TensorEntry | undefined;
}

/** @internal One pre-norm decoder layer: `x += attention(norm(x)); x += mlp(norm(x))`. */
export interface Layer {
  readonly attentionNorm: TensorEntry;
  readonly q: Linear;
  readonly k: Linear;
  readonly v: Linear;
  readonly o: Linear;
  /** Norms of queries and keys per head, before the rotation. */
  readonly qNorm: TensorEntry | undefined;
  readonly kNorm: TensorEntry | undefined;
  /** Number of tokens that a query sees; `null` for all. */
  readonly window: number | null;
  readonly mlpNorm: TensorEntry;
  readonly gate: Linear;
  readonly up: Linear;
  readonly down: Linear;
}

/** @internal The backbone of a checkpoint: which tensor plays which part. What a graph is lowered from. */
export interface Decoder {
  readonly config: Checkpoint["config"];
  readonly embedding: TensorEntry;
  readonly layers: readonly Layer[];
  readonly norm: TensorEntry;
  /** What stands before `embed_tokens.weight` in tensor names, for example `model.`. */
  readonly prefix: string;
}

/**
 * @internal Finds every tensor of the backbone and checks shapes and types. A tensor inside a layer that has no part
 * in it (an adapter, a quantisation scale) is an error: the layer would not compute what its checkpoint means.
 */
export function describeDecoder({ config, tensors, path }: Checkpoint): Decoder {
  const prefix = findPrefix(tensors, path);
  const used = new Set<string>();
  const take = (name: string, shape: readonly number[]): TensorEntry => {
    used.add(prefix + name);
    return takeTensor({ tensors, path }, prefix + name, shape);
  };
  const linear = (name: string, out: number, into: number, bias: boolean): Linear => ({
    weight: take(`${name}.weight`, [out, into]),
    bias: bias ? take(`${name}.bias`, [out]) : undefined,
  });
  const { hiddenSize: hidden, intermediateSize: inner, headDim, mlpBias, qkvBias } = config;
  // Of a tied pair a file may hold either one.
  const lmHead = `${prefix.replace(/model\.$/, "")}lm_head.weight`;
  const onlyLmHead = config.tied === true && !tensors.has(prefix + EMBEDDING) && tensors.has(lmHead);
  const vocabulary = [config.vocabSize, hidden];
  const [queries, keys] = [config.heads * headDim, config.kvHeads * headDim];
  const layers = config.windows.map((window, index): Layer => {
    const at = `layers.${index}`;
    return {
      window,
      attentionNorm: take(`${at}.input_layernorm.weight`, [hidden]),
      q: linear(`${at}.self_attn.q_proj`, queries, hidden, qkvBias),
      k: linear(`${at}.self_attn.k_proj`, keys, hidden, qkvBias),
      v: linear(`${at}.self_attn.v_proj`, keys, hidden, qkvBias),
      o: linear(`${at}.self_attn.o_proj`, hidden, queries, config.outputBias),
      qNorm: config.qkNorm ? take(`${at}.self_attn.q_norm.weight`, [headDim]) : undefined,
      kNorm: config.qkNorm ? take(`${at}.self_attn.k_norm.weight`, [headDim]) : undefined,
      mlpNorm: take(`${at}.post_attention_layernorm.weight`, [hidden]),
      gate: linear(`${at}.mlp.gate_proj`, inner, hidden, mlpBias),
      up: linear(`${at}.mlp.up_proj`, inner, hidden, mlpBias),
      down: linear(`${at}.mlp.down_proj`, hidden, inner, mlpBias),
    };
  });
  const decoder: Decoder = {
    config,
    prefix,
    layers,
    embedding: onlyLmHead ? takeTensor({ tensors, path }, lmHead, vocabulary) : take(EMBEDDING, vocabulary),
    norm: take("norm.weight", [hidden]),
  };
  for (const name of tensors.keys()) {
    const foreign = name.startsWith(`${prefix}layers.`) && !used.has(name);
    // Files of old Llama checkpoints store the frequencies, which follow from the config.
    if (foreign && !name.endsWith(".rotary_emb.inv_freq")) {
      throw new InputError("ERR_INPUT", `${path}: tensor ${name} has no part in a ${config.family} layer`);
    }
  }
  return decoder;
}

/** @internal One tensor by name, with its shape and type checked. */
export function takeTensor(
  { tensors, path }: Pick<Checkpoint, "tensors" | "path">,
  name: string,
  shape: readonly number[],
): TensorEntry {
  const entry = tensors.get(name);
  if (entry === undefined) {
    throw new InputError("ERR_INPUT", `${path}: expected tensor ${name} [${shape}], found none`);
  }
  if (entry.shape.length !== shape.length || entry.shape.some((n, i) => n !== shape[i])) {
    throw new InputError("ERR_INPUT", `${path}: tensor ${name}: expected [${shape}], got [${entry.shape}]`);
  }
  if (!isWeightType(entry.type)) {
    throw new InputError(
      "ERR_INPUT",
      `${path}: tensor ${name}: expected bfloat16, float16 or float32, got ${entry.type}`,
    );
  }
  return entry;
}

const EMBEDDING = "embed_tokens.weight";
const FIRST_NORM = "layers.0.input_layernorm.weight";

/** @internal What stands before the backbone's tensor names. */
export function findPrefix(tensors: Checkpoint["tensors"], path: string): string {
  for (const part of [EMBEDDING, FIRST_NORM]) {
    const names = [...tensors.keys()].filter((name) => name === part || name.endsWith(`.${part}`));
    if (names.length === 1) return names[0]!.slice(0, -part.length);
    if (names.length > 1) {
      throw new InputError("ERR_INPUT", `${path}: expected one tensor ${part}, found ${names.join(", ")}`);
    }
  }
  throw new InputError("ERR_INPUT", `${path}: expected one tensor ${EMBEDDING}, found none`);
}
