/** @internal Bits of a block-wise quantised weight. */
export type Bits = 4 | 8;

/** @internal Inputs of a row that share a scale. */
export const BLOCK = 32;

/** @internal Quantised rows: see {@link quantizeRows}. */
export interface QuantizedRows {
  /** `[rows, blocks, BLOCK bits / 8]`, the lower half of a byte first. */
  readonly packed: Uint8Array;
  /** `[rows, blocks]` */
  readonly scales: Float32Array;
}

/**
 * @internal Quantises rows block by block: `x ~ scale (q - 2^(bits - 1))` with `q` in `[0, 2^bits)`. The scale maps the
 * value of largest magnitude, with its sign, to the end of the range that reaches further (`q = 0`). A block of zeros has
 * scale 0. Inputs that the last block lacks hold the middle of the range.
 *
 * @param values - `[rows, width]`
 */
export function quantizeRows(values: Float32Array, width: number, bits: Bits): QuantizedRows {
  const rows = values.length / width;
  const blocks = Math.ceil(width / BLOCK);
  const middle = 2 ** (bits - 1);
  const bytes = (BLOCK * bits) / 8;
  const packed = new Uint8Array(rows * blocks * bytes).fill(bits === 4 ? 0x88 : 0x80);
  const scales = new Float32Array(rows * blocks);
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < blocks; block++) {
      const from = row * width + block * BLOCK;
      const count = Math.min(BLOCK, width - block * BLOCK);
      let extreme = 0;
      for (let i = 0; i < count; i++) {
        const value = values[from + i]!;
        if (Math.abs(value) > Math.abs(extreme)) extreme = value;
      }
      const index = row * blocks + block;
      const scale = Math.fround(-extreme / middle);
      scales[index] = scale;
      for (let i = 0; i < count; i++) {
        const value = values[from + i]!;
        const steps = scale === 0 ? 0 : Math.round(value / scale);
        const q = Math.max(0, Math.min(2 * middle - 1, steps + middle));
        if (bits === 8) packed[index * bytes + i] = q;
        else if (i % 2 === 0) packed[index * bytes + i / 2] = 0x80 | q;
        else packed[index * bytes + (i >> 1)] = (packed[index * bytes + (i >> 1)]! & 0x0f) | (q << 4);
      }
    }
  }
  return { packed, scales };
}
