import type { TestTensors } from "../support/checkpoint.ts";

/** A config.json, as the reference reads it. */
export interface ReferenceConfig {
  model_type: string;
  hidden_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  head_dim?: number;
  rms_norm_eps?: number;
  max_position_embeddings: number;
  rope_theta?: number;
  rope_scaling?: Record<string, unknown>;
  rope_parameters?: Record<string, unknown>;
  /** Per layer. */
  windows?: (number | null)[];
}

/** One row: ids, and (for a branching row) positions and who sees whom. */
export interface ReferenceRow {
  ids: number[];
  positions?: number[];
  sees?: (query: number, key: number) => boolean;
}

type Matrix = Float64Array[];

/** Hidden states after the last norm, in float64, token by token, one loop per formula. */
export function referenceHidden(config: ReferenceConfig, tensors: TestTensors, row: ReferenceRow): Matrix {
  const { ids } = row;
  const positions = row.positions ?? ids.map((_, i) => i);
  const sees = row.sees ?? ((query, key) => key <= query);
  const { num_attention_heads: heads, num_key_value_heads: kvHeads } = config;
  const headDim = config.head_dim ?? config.hidden_size / heads;
  const epsilon = config.rms_norm_eps ?? 1e-6;
  const get = (name: string) => tensors[`model.${name}`];
  const table = get("embed_tokens.weight")!.values;
  let x: Matrix = ids.map((id) => table.slice(id * config.hidden_size, (id + 1) * config.hidden_size));
  const { frequencies, scale } = referenceFrequencies(config, headDim, Math.max(...positions) + 1);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const at = `layers.${layer}`;
    const linear = (name: string, rows: Matrix) =>
      affine(rows, get(`${at}.${name}.weight`)!.values, get(`${at}.${name}.bias`)?.values);
    const normed = rms(x, get(`${at}.input_layernorm.weight`)!.values, epsilon);
    const project = (name: "q" | "k" | "v", count: number) => {
      const gamma = get(`${at}.self_attn.${name}_norm.weight`)?.values;
      return linear(`self_attn.${name}_proj`, normed).map((values, token) =>
        Array.from({ length: count }, (_, head) => {
          let part: Float64Array = values.slice(head * headDim, (head + 1) * headDim);
          if (gamma) part = rms([part], gamma, epsilon)[0]!;
          return name === "v" ? part : rotate(part, positions[token]!, frequencies, scale);
        }),
      );
    };
    const [q, k, v] = [project("q", heads), project("k", kvHeads), project("v", kvHeads)];
    const window = config.windows?.[layer] ?? null;
    const mixed = ids.map((_, i) => {
      const out = new Float64Array(heads * headDim);
      for (let head = 0; head < heads; head++) {
        const shared = Math.floor(head / (heads / kvHeads));
        const keys = ids
          .map((_, j) => j)
          .filter((j) => sees(i, j) && (window === null || positions[i]! - positions[j]! < window));
        const scores = keys.map((j) => dot(q[i]![head]!, k[j]![shared]!) / Math.sqrt(headDim));
        const top = Math.max(...scores);
        const total = scores.reduce((sum, s) => sum + Math.exp(s - top), 0);
        for (const [n, j] of keys.entries()) {
          const weight = Math.exp(scores[n]! - top) / total;
          for (let d = 0; d < headDim; d++) out[head * headDim + d]! += weight * v[j]![shared]![d]!;
        }
      }
      return out;
    });
    x = add(x, linear("self_attn.o_proj", mixed));
    const inner = rms(x, get(`${at}.post_attention_layernorm.weight`)!.values, epsilon);
    const gate = linear("mlp.gate_proj", inner);
    const up = linear("mlp.up_proj", inner);
    const gated = gate.map((row, t) => row.map((g, i) => (g / (1 + Math.exp(-g))) * up[t]![i]!));
    x = add(x, linear("mlp.down_proj", gated));
  }
  return rms(x, get("norm.weight")!.values, epsilon);
}

/** `x W^T + b` */
export function affine(x: Matrix, weight: Float64Array, bias?: Float64Array): Matrix {
  const into = x[0]!.length;
  return x.map((row) =>
    Float64Array.from({ length: weight.length / into }, (_, out) => {
      let sum = bias?.[out] ?? 0;
      for (let i = 0; i < into; i++) sum += row[i]! * weight[out * into + i]!;
      return sum;
    }),
  );
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

const add = (a: Matrix, b: Matrix): Matrix => a.map((row, t) => row.map((value, i) => value + b[t]![i]!));

function rms(x: Matrix, gamma: Float64Array, epsilon: number): Matrix {
  return x.map((row) => {
    const inverse = 1 / Math.sqrt(dot(row, row) / row.length + epsilon);
    return row.map((value, i) => value * inverse * gamma[i]!);
  });
}

// Dimension i turns with dimension i + half.
function rotate(x: Float64Array, position: number, frequencies: number[], scale: number): Float64Array {
  const half = x.length / 2;
  const out = new Float64Array(x.length);
  for (let i = 0; i < half; i++) {
    const [c, s] = [
      Math.cos(position * frequencies[i]!) * scale,
      Math.sin(position * frequencies[i]!) * scale,
    ];
    out[i] = x[i]! * c - x[i + half]! * s;
    out[i + half] = x[i + half]! * c + x[i]! * s;
  }
  return out;
}

/** Rotary frequencies in float64, and the factor on cos and sin. */
export function referenceFrequencies(
  config: ReferenceConfig,
  dim: number,
  length: number,
): { frequencies: number[]; scale: number } {
  const given = (config.rope_parameters ?? config.rope_scaling ?? {}) as Record<string, number & number[]>;
  const theta = given.rope_theta ?? config.rope_theta ?? 10000;
  const type = String(given.rope_type ?? given.type ?? "default");
  const positions = config.max_position_embeddings;
  const original = given.original_max_position_embeddings ?? positions;
  const factor = given.factor ?? positions / original;
  const range = Array.from({ length: dim / 2 }, (_, i) => i);
  const plain = range.map((i) => theta ** ((-2 * i) / dim));
  if (type === "linear") return { frequencies: plain.map((f) => f / factor), scale: 1 };
  if (type === "dynamic") {
    const stretch = (factor * Math.max(length, positions)) / positions - (factor - 1);
    const base = theta * stretch ** (dim / (dim - 2));
    return { frequencies: range.map((i) => base ** ((-2 * i) / dim)), scale: 1 };
  }
  if (type === "llama3") {
    const { low_freq_factor: low, high_freq_factor: high } = given as Record<string, number>;
    const frequencies = plain.map((f) => {
      const turns = (original * f) / (2 * Math.PI);
      const blend = Math.min(1, Math.max(0, (turns - low!) / (high! - low!)));
      return f * (blend + (1 - blend) / factor);
    });
    return { frequencies, scale: 1 };
  }
  if (type === "yarn") {
    const at = (turns: number) => (dim * Math.log(original / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
    const low = Math.max(0, Math.floor(at(given.beta_fast ?? 32)));
    const high = Math.min(dim - 1, Math.ceil(at(given.beta_slow ?? 1)));
    const frequencies = plain.map((f, i) => {
      const stretched = Math.min(1, Math.max(0, (i - low) / (Math.max(high, low + 0.001) - low)));
      return (f / factor) * stretched + f * (1 - stretched);
    });
    return { frequencies, scale: factor <= 1 ? 1 : 0.1 * Math.log(factor) + 1 };
  }
  if (type === "longrope") {
    const divisors = length > original ? given.long_factor! : given.short_factor!;
    const scale = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(original));
    return { frequencies: plain.map((f, i) => f / divisors[i]!), scale };
  }
  return { frequencies: plain, scale: 1 };
}
