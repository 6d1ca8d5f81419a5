import type { Checkpoint, TensorEntry } from "../model/index.ts";
import { type Bits, BLOCK } from "../quant/rows.ts";

/** What a checkpoint needs to be scored with, in bytes. */
export interface MemoryEstimate {
  /** Numbers in all tensors. */
  readonly parameters: number;
  /** Bytes of the weights in their files: mapped, and given back under pressure. */
  readonly file: number;
  /** Float32 copies of the largest layer, which live while it runs. */
  readonly layer: number;
  /** Activations of one batch. */
  readonly activations: number;
  /** Anonymous memory with weights in place: two layers' copies at the seam, and activations. */
  readonly inPlace: number;
  /** Anonymous memory with `weights: "float32"`. */
  readonly float32: number;
  /** Bytes that `quantize: "int8"` writes to the cache, once: the layers' matrices. */
  readonly int8: number;
  /** The same for `"int4"`. */
  readonly int4: number;
}

/**
 * An estimate from shapes alone.
 *
 * @param batchTokens - tokens of one batch, default 4096
 */
export function estimateMemory({ config, tensors }: Checkpoint, batchTokens = 4096): MemoryEstimate {
  const count = ({ shape }: TensorEntry): number => shape.reduce((a, b) => a * b, 1);
  const layers = new Map<string, number>();
  let parameters = 0;
  let file = 0;
  const quantized = { 8: 0, 4: 0 };
  for (const [name, tensor] of tensors) {
    const size = count(tensor);
    parameters += size;
    file += tensor.length;
    const layer = /\blayers\.(\d+)\./.exec(name)?.[1];
    if (layer === undefined) continue;
    layers.set(layer, (layers.get(layer) ?? 0) + 4 * size);
    for (const bits of [8, 4] as const) quantized[bits] += quantizedBytes(tensor.shape, bits);
  }
  const layer = Math.max(0, ...layers.values());
  const all = [...layers.values()].reduce((a, b) => a + b, 0);
  // Hidden state, its norm, the gated pair and their product, in float32.
  const activations = 4 * batchTokens * (4 * config.hiddenSize + 3 * config.intermediateSize);
  return {
    parameters,
    file,
    layer,
    activations,
    inPlace: 2 * layer + activations,
    float32: all + activations,
    int8: quantized[8],
    int4: quantized[4],
  };
}

// A float32 scale for each block of a matrix's row, and its numbers; vectors stay as they are.
function quantizedBytes(shape: readonly number[], bits: Bits): number {
  const [rows, width] = shape;
  return shape.length === 2 ? rows! * Math.ceil(width! / BLOCK) * ((BLOCK * bits) / 8 + 4) : 0;
}
