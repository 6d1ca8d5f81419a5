// Block-wise quantisation in plain TypeScript, one value at a time.

/** What rows quantise to, and back. */
export interface ReferenceQuantized {
  packed: Uint8Array;
  scales: Float32Array;
}

const BLOCK = 32;

function roundHalfToEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}

/** Rows of `width` values to blocks of 32 that share a scale. */
export function quantize(values: Float32Array, width: number, bits: 4 | 8): ReferenceQuantized {
  const rows = values.length / width;
  const blocks = Math.ceil(width / BLOCK);
  const middle = 2 ** (bits - 1);
  const bytes = (BLOCK * bits) / 8;
  const packed = new Uint8Array(rows * blocks * bytes).fill(bits === 4 ? 0x88 : 0x80);
  const scales = new Float32Array(rows * blocks);
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < blocks; block++) {
      const from = row * width + block * BLOCK;
      const inside = [...values.subarray(from, Math.min(from + BLOCK, (row + 1) * width))];
      const [high, low] = [Math.max(0, ...inside), Math.min(0, ...inside)];
      const index = row * blocks + block;
      const scale = Math.fround(-(high > -low ? high : low) / middle);
      scales[index] = scale;
      for (const [i, value] of inside.entries()) {
        const steps = scale === 0 ? 0 : roundHalfToEven(Math.fround(value / scale));
        const q = Math.max(0, Math.min(2 * middle - 1, steps + middle));
        const at = index * bytes + (bits === 8 ? i : i >> 1);
        if (bits === 8) packed[at] = q;
        else packed[at] = i % 2 === 0 ? (packed[at]! & 0xf0) | q : (packed[at]! & 0x0f) | (q << 4);
      }
    }
  }
  return { packed, scales };
}

/** What quantised rows stand for. */
export function restore(
  { packed, scales }: ReferenceQuantized,
  count: number,
  width: number,
  bits: 4 | 8,
): Float64Array {
  const blocks = Math.ceil(width / BLOCK);
  return Float64Array.from({ length: count }, (_, i) => {
    const [row, column] = [Math.floor(i / width), i % width];
    const block = row * blocks + Math.floor(column / BLOCK);
    const at = column % BLOCK;
    const byte = packed[(block * BLOCK * bits) / 8 + (bits === 8 ? at : at >> 1)]!;
    const q = bits === 8 ? byte : at % 2 === 0 ? byte & 15 : byte >> 4;
    return scales[block]! * (q - 2 ** (bits - 1));
  });
}
