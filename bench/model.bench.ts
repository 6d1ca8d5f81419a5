import { existsSync, mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capabilities } from "../lib/index.ts";
import { createRunner, type HeadRunner, openCheckpoint, type RunnerOptions } from "../lib/model/index.ts";
import { toHeadBatch as toBatch } from "../lib/prm/batch.ts";
import { pack } from "../lib/prm/inputs/prefixes.ts";
import type { BenchCase } from "./case.ts";
import { peakMemory } from "./memory.ts";

// The layers of Qwen2.5-0.5B, four of them, at random; written once, read by both sides.
const CONFIG = {
  architectures: ["Qwen2ForTokenClassification"],
  model_type: "qwen2",
  torch_dtype: "bfloat16",
  vocab_size: 2000,
  hidden_size: 896,
  intermediate_size: 4864,
  num_hidden_layers: 4,
  num_attention_heads: 14,
  num_key_value_heads: 2,
  max_position_embeddings: 4096,
  hidden_act: "silu",
  rms_norm_eps: 1e-6,
  rope_theta: 1e6,
  tie_word_embeddings: false,
  num_labels: 2,
};

const HEAD = { kind: "token-classification", classes: 2 } as const;

/** Lengths of the rows, the same in bench/torch/model.py. */
const EVEN = [256, 256, 256, 256];
const UNEVEN = [60, 120, 250, 400];

/** A solution of 12 steps as DreamPRM is fed: question, some steps and the header of the reply, once for each step. */
const [QUESTION, STEP, STEPS, HEADER] = [60, 40, 12, 5];
const PREFIXES = Array.from({ length: STEPS }, (_, k) => [
  ...Array.from({ length: QUESTION + STEP * (k + 1) }, (_, i) => (i * 7) % CONFIG.vocab_size),
  ...Array.from({ length: HEADER }, (_, i) => CONFIG.vocab_size - HEADER + i),
]);

export default async (): Promise<BenchCase[]> => {
  const folder = writeCheckpoint(join(process.cwd(), "out", "bench-model"));
  const checkpoint = await openCheckpoint(folder);
  const bytes = [...checkpoint.tensors.values()].reduce((sum, { length }) => sum + length, 0);
  const { threads } = capabilities();
  const cases: BenchCase[] = [];
  for (const weights of ["in-place", "float32"] as const) {
    const runner = await createRunner(checkpoint, HEAD, { threads, weights });
    for (const [lengths, torch] of [[EVEN, "even"] as const, [UNEVEN, "uneven"] as const]) {
      const name = `${sum(lengths)} tokens in rows of ${[...new Set(lengths)].join(", ")}, weights ${weights}`;
      const notes = lengths === EVEN ? await memoryNotes(folder, { weights }) : [];
      cases.push({ family: "model", name, bytes, run: () => score(runner, lengths), torch, notes });
    }
    const solution = `solution of ${STEPS} steps, each with its prefix, weights ${weights}`;
    const packed = (): Promise<Float32Array> => runner.run(toBatch([pack(PREFIXES)]));
    const separate = async (): Promise<void> => {
      for (const ids of PREFIXES) await runner.run(toBatch([{ ids, reads: [ids.length - 1] }]));
    };
    cases.push({ family: "model", name: `${solution}, packed`, bytes, run: packed, torch: "prefixes" });
    cases.push({
      family: "model",
      name: `${solution}, ${STEPS} passes`,
      bytes,
      run: separate,
      torch: "prefixes",
    });
  }
  for (const quantize of ["int8", "int4"] as const) {
    const runner = await createRunner(checkpoint, HEAD, { threads, quantize });
    const name = `${sum(EVEN)} tokens in rows of ${EVEN[0]}, ${quantize}`;
    const notes = await memoryNotes(folder, { quantize });
    cases.push({ family: "model", name, bytes, run: () => score(runner, EVEN), torch: "even", notes });
  }
  return cases;
};

async function memoryNotes(folder: string, options: RunnerOptions): Promise<string[]> {
  const { size } = statSync(join(folder, "model.safetensors"));
  const notes: string[] = [];
  for (const tokens of [64, 2048]) {
    const peak = await peakMemory(folder, options, tokens);
    if (peak === undefined) continue;
    const [megabytes, share] = [(peak / 1e6).toFixed(0), ((100 * peak) / size).toFixed(0)];
    notes.push(`anonymous memory of passes of ${tokens} tokens: ${megabytes} MB, ${share} % of the file`);
  }
  return notes;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);

function score(runner: HeadRunner, lengths: readonly number[]): Promise<Float32Array> {
  const row = (length: number) => Array.from({ length }, (_, i) => (i * 7) % CONFIG.vocab_size);
  return runner.run(toBatch(lengths.map((length) => ({ ids: row(length), reads: [length - 1] }))));
}

function writeCheckpoint(folder: string): string {
  const file = join(folder, "model.safetensors");
  if (existsSync(file)) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify(CONFIG));
  const { hidden_size: hidden, intermediate_size: inner } = CONFIG;
  const keys = (CONFIG.num_key_value_heads * hidden) / CONFIG.num_attention_heads;
  const shapes: [name: string, shape: number[]][] = [
    ["model.embed_tokens.weight", [CONFIG.vocab_size, hidden]],
    ["model.norm.weight", [hidden]],
    ["score.weight", [2, hidden]],
    ["score.bias", [2]],
  ];
  for (let layer = 0; layer < CONFIG.num_hidden_layers; layer++) {
    const at = `model.layers.${layer}`;
    for (const [name, out] of Object.entries({ q: hidden, k: keys, v: keys })) {
      shapes.push([`${at}.self_attn.${name}_proj.weight`, [out, hidden]]);
      shapes.push([`${at}.self_attn.${name}_proj.bias`, [out]]);
    }
    shapes.push([`${at}.self_attn.o_proj.weight`, [hidden, hidden]]);
    shapes.push(
      [`${at}.mlp.gate_proj.weight`, [inner, hidden]],
      [`${at}.mlp.up_proj.weight`, [inner, hidden]],
    );
    shapes.push([`${at}.mlp.down_proj.weight`, [hidden, inner]]);
    shapes.push([`${at}.input_layernorm.weight`, [hidden]]);
    shapes.push([`${at}.post_attention_layernorm.weight`, [hidden]]);
  }
  const header: Record<string, unknown> = {};
  const parts: Uint8Array[] = [];
  let offset = 0;
  for (const [name, shape] of shapes) {
    const data = bfloat16Noise(shape, name.includes("norm") ? 1 : 0);
    header[name] = { dtype: "BF16", shape, data_offsets: [offset, offset + data.length] };
    offset += data.length;
    parts.push(data);
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(`${file}.part`, Buffer.concat([length, text, ...parts]));
  renameSync(`${file}.part`, file);
  return folder;
}

function bfloat16Noise(shape: readonly number[], mean: number): Uint8Array {
  const floats = new Float32Array(shape.reduce((product, n) => product * n, 1));
  const scale = shape.length === 2 ? Math.sqrt(3 / shape[1]!) : 0.1;
  let x = 1;
  for (let i = 0; i < floats.length; i++) {
    x = (Math.imul(x, 1664525) + 1013904223) | 0;
    floats[i] = mean + (scale * x) / 2 ** 31;
  }
  const halves = new Uint16Array(floats.length);
  const bits = new Uint16Array(floats.buffer);
  for (let i = 0; i < halves.length; i++) halves[i] = bits[2 * i + 1]!;
  return new Uint8Array(halves.buffer);
}
