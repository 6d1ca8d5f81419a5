import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A stored tensor of a test checkpoint, and the values that its bytes stand for. */
export interface TestTensor {
  dtype: "BF16" | "F16" | "F32";
  shape: number[];
  bytes: Uint8Array;
  values: Float64Array;
}

export type TestTensors = Record<string, TestTensor>;

/** A folder that is removed when the test file ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "minform-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** mulberry32: the same numbers on every machine. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function normal(uniform: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** A tensor of `N(mean, scale^2)`, rounded to its type. */
export function tensor(
  uniform: () => number,
  dtype: TestTensor["dtype"],
  shape: number[],
  scale: number,
  mean = 0,
): TestTensor {
  const count = shape.reduce((product, n) => product * n, 1);
  const values = Float64Array.from({ length: count }, () => mean + scale * normal(uniform));
  if (dtype === "F32") {
    const floats = Float32Array.from(values);
    return { dtype, shape, bytes: new Uint8Array(floats.buffer), values: Float64Array.from(floats) };
  }
  const halves = new Uint16Array(count);
  for (let i = 0; i < count; i++) {
    const [bits, value] = dtype === "BF16" ? bfloat16(values[i]!) : float16(values[i]!);
    halves[i] = bits;
    values[i] = value;
  }
  return { dtype, shape, bytes: new Uint8Array(halves.buffer), values };
}

// Truncation is a rounding too; what matters is that bits and value agree.
function bfloat16(value: number): [bits: number, value: number] {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  const bits = view.getUint16(0);
  view.setUint16(2, 0);
  return [bits, view.getFloat32(0)];
}

function float16(value: number): [bits: number, value: number] {
  const exponent = Math.max(-14, Math.floor(Math.log2(Math.abs(value) || 1e-30)));
  const step = 2 ** (exponent - 10);
  const units = Math.min(2047, Math.floor(Math.abs(value) / step));
  const sign = value < 0 ? 0x8000 : 0;
  const bits = units < 1024 ? units : ((exponent + 15) << 10) | (units - 1024);
  return [sign | bits, (value < 0 ? -1 : 1) * units * step];
}

interface Shape {
  vocab_size: number;
  hidden_size: number;
  intermediate_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  head_dim?: number;
  model_type: string;
  attention_bias?: boolean;
  mlp_bias?: boolean;
  tie_word_embeddings?: boolean;
  [name: string]: unknown;
}

/** The backbone's tensors (and an LM head unless tied) of a config, at random. */
export function backbone(config: Shape, dtype: TestTensor["dtype"], seed = 1): TestTensors {
  const uniform = random(seed);
  const { hidden_size: hidden, intermediate_size: inner, vocab_size: vocabulary } = config;
  const headDim = config.head_dim ?? hidden / config.num_attention_heads;
  const [queries, keys] = [config.num_attention_heads * headDim, config.num_key_value_heads * headDim];
  const tensors: TestTensors = {};
  const weight = (name: string, ...shape: number[]) => {
    tensors[name] = tensor(uniform, dtype, shape, 1 / Math.sqrt(shape.at(-1)!));
  };
  const bias = (name: string, size: number) => {
    tensors[name] = tensor(uniform, dtype, [size], 0.1);
  };
  const norm = (name: string, size: number) => {
    tensors[name] = tensor(uniform, dtype, [size], 0.2, 1);
  };
  tensors["model.embed_tokens.weight"] = tensor(uniform, dtype, [vocabulary, hidden], 1);
  const { model_type: type, attention_bias: attentionBias = false, mlp_bias: mlpBias = false } = config;
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const at = `model.layers.${layer}`;
    norm(`${at}.input_layernorm.weight`, hidden);
    norm(`${at}.post_attention_layernorm.weight`, hidden);
    for (const [name, out] of [["q", queries] as const, ["k", keys] as const, ["v", keys] as const]) {
      weight(`${at}.self_attn.${name}_proj.weight`, out, hidden);
      if (type === "qwen2" || attentionBias) bias(`${at}.self_attn.${name}_proj.bias`, out);
    }
    weight(`${at}.self_attn.o_proj.weight`, hidden, queries);
    if (attentionBias) bias(`${at}.self_attn.o_proj.bias`, hidden);
    if (type === "qwen3") for (const n of ["q", "k"]) norm(`${at}.self_attn.${n}_norm.weight`, headDim);
    weight(`${at}.mlp.gate_proj.weight`, inner, hidden);
    weight(`${at}.mlp.up_proj.weight`, inner, hidden);
    weight(`${at}.mlp.down_proj.weight`, hidden, inner);
    if (mlpBias) {
      bias(`${at}.mlp.gate_proj.bias`, inner);
      bias(`${at}.mlp.up_proj.bias`, inner);
      bias(`${at}.mlp.down_proj.bias`, hidden);
    }
  }
  norm("model.norm.weight", hidden);
  if (config.tie_word_embeddings !== true) weight("lm_head.weight", vocabulary, hidden);
  return tensors;
}

/** Bytes of a safetensors file; `edit` may spoil the header first. */
export function safetensors(
  tensors: TestTensors,
  edit: (header: Record<string, Record<string, unknown>>) => void = () => {},
): Uint8Array {
  const header: Record<string, Record<string, unknown>> = { __metadata__: { format: "pt" } };
  let offset = 0;
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.length] };
    offset += bytes.length;
  }
  edit(header);
  return frame(JSON.stringify(header), ...Object.values(tensors).map(({ bytes }) => bytes));
}

/** Length, header and data, one after the other. */
export function frame(header: string | Buffer, ...data: Uint8Array[]): Uint8Array {
  const text = typeof header === "string" ? Buffer.from(header) : header;
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...data]);
}

/** Writes a checkpoint folder; with `shards` > 1, tensors are dealt out over so many files. */
export function writeCheckpoint(folder: string, config: object, tensors: TestTensors, shards = 1): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  if (shards === 1) {
    writeFileSync(join(folder, "model.safetensors"), safetensors(tensors));
    return folder;
  }
  const map: Record<string, string> = {};
  const parts: TestTensors[] = Array.from({ length: shards }, () => ({}));
  for (const [i, [name, value]] of Object.entries(tensors).entries()) {
    parts[i % shards]![name] = value;
    map[name] = shardName(i % shards, shards);
  }
  for (const [i, part] of parts.entries()) {
    writeFileSync(join(folder, shardName(i, shards)), safetensors(part));
  }
  const index = { metadata: {}, weight_map: map };
  writeFileSync(join(folder, "model.safetensors.index.json"), JSON.stringify(index));
  return folder;
}

export const shardName = (i: number, of: number): string =>
  `model-${String(i + 1).padStart(5, "0")}-of-${String(of).padStart(5, "0")}.safetensors`;

/**
 * Writes a safetensors file whose tensors start behind a hole of so many bytes: what a shard of that size looks like,
 * without the time and space.
 */
export function writeSparse(file: string, tensors: TestTensors, hole: number): void {
  const header: Record<string, unknown> = {
    "unused.weight": { dtype: "U8", shape: [hole], data_offsets: [0, hole] },
  };
  let offset = hole;
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.length] };
    offset += bytes.length;
  }
  const start = frame(JSON.stringify(header));
  const handle = openSync(file, "w");
  try {
    ftruncateSync(handle, start.length + offset);
    writeSync(handle, start, 0, start.length, 0);
    let at = start.length + hole;
    for (const { bytes } of Object.values(tensors)) at += writeSync(handle, bytes, 0, bytes.length, at);
  } finally {
    closeSync(handle);
  }
}
