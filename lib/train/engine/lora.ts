import type { ModelConfig } from "../../model/config.ts";
import { assertCount, assertNumber, assertOneOf } from "../../validate.ts";
import { randomStream } from "../arithmetic/random.ts";
import { type AdapterTensors, Tensor } from "./parameters.ts";

/** Projections that can have a low-rank adapter. */
export const LORA_TARGETS = [
  "q_proj",
  "k_proj",
  "v_proj",
  "o_proj",
  "gate_proj",
  "up_proj",
  "down_proj",
] as const;

/** Options of low-rank adaptation: `W + (alpha / rank) B A`, with A and B trained. */
export interface LoraOptions {
  /** Rank of the change, >= 1. */
  readonly rank: number;
  /** Scale before the division by the rank. Default `2 rank`. */
  readonly alpha?: number;
  /** Which projections. Default: all seven. */
  readonly targets?: readonly (typeof LORA_TARGETS)[number][];
  /** Seed of A; B starts at 0. Default 0. */
  readonly seed?: number;
}

interface Place {
  readonly projection: number;
  readonly firstOutput: number;
  readonly outputs: number;
  readonly inputs: number;
  readonly path: string;
}

function places(config: ModelConfig): Record<(typeof LORA_TARGETS)[number], Place> {
  const { hiddenSize: hidden, intermediateSize: inner, headDim } = config;
  const [queries, keys] = [config.heads * headDim, config.kvHeads * headDim];
  const place = (
    path: string,
    projection: number,
    firstOutput: number,
    outputs: number,
    inputs: number,
  ): Place => ({ path, projection, firstOutput, outputs, inputs });
  return {
    q_proj: place("self_attn.q_proj", 0, 0, queries, hidden),
    k_proj: place("self_attn.k_proj", 0, queries, keys, hidden),
    v_proj: place("self_attn.v_proj", 0, queries + keys, keys, hidden),
    o_proj: place("self_attn.o_proj", 1, 0, hidden, queries),
    gate_proj: place("mlp.gate_proj", 2, 0, inner, hidden),
    up_proj: place("mlp.up_proj", 2, inner, inner, hidden),
    down_proj: place("mlp.down_proj", 3, 0, hidden, inner),
  };
}

/** @internal Fresh adapters: A uniform in +-1 / sqrt(inputs), B zero, so that nothing changes at first. */
export function createAdapters(config: ModelConfig, options: LoraOptions): AdapterTensors[] {
  const { rank, alpha = 2 * rank, targets = LORA_TARGETS, seed = 0 } = options;
  assertCount(rank, "lora.rank", 1);
  assertNumber(alpha, "lora.alpha");
  for (const [i, target] of targets.entries()) assertOneOf(target, `lora.targets[${i}]`, LORA_TARGETS);
  const known = places(config);
  const adapters: AdapterTensors[] = [];
  for (let layer = 0; layer < config.layers; layer++) {
    for (const target of new Set(targets)) {
      const { path, projection, firstOutput, outputs, inputs } = known[target];
      const tensor = (part: string, ...shape: number[]): Tensor => {
        const made = new Tensor({ parts: [{ name: `model.layers.${layer}.${path}.${part}.weight`, shape }] });
        made.trainable = true;
        return made;
      };
      const down = tensor("lora_A", rank, inputs);
      const uniform = randomStream(seed, layer, LORA_TARGETS.indexOf(target));
      for (let i = 0; i < down.data.length; i++) down.data[i] = (2 * uniform() - 1) / Math.sqrt(inputs);
      adapters.push({
        place: [layer, projection, firstOutput, outputs, rank],
        scale: alpha / rank,
        down,
        up: tensor("lora_B", outputs, rank),
      });
    }
  }
  return adapters;
}

/** @internal Adds an adapter's change to the weight that it adapts, `[outputs, inputs]`. */
export function mergeInto(weight: Float32Array, { place, scale, down, up }: AdapterTensors): void {
  const [, , , outputs, rank] = place;
  const inputs = down.data.length / rank;
  const row = new Float64Array(inputs);
  for (let o = 0; o < outputs; o++) {
    row.fill(0);
    for (let r = 0; r < rank; r++) {
      const factor = scale * up.data[o * rank + r]!;
      for (let i = 0; i < inputs; i++) row[i]! += factor * down.data[r * inputs + i]!;
    }
    for (let i = 0; i < inputs; i++) weight[o * inputs + i]! += row[i]!;
  }
}
