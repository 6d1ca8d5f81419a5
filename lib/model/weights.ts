import type { WeightType } from "./safetensors.ts";

/** @internal Whether a stored type can be used as a weight. */
export const isWeightType = (type: string): type is WeightType =>
  type === "bfloat16" || type === "float16" || type === "float32";

/** @internal Stored weights as float32. Exact: every bfloat16 and float16 value is a float32 value. */
export function toFloat32(bytes: Uint8Array, type: WeightType): Float32Array {
  const copy = bytes.slice();
  if (type === "float32") return new Float32Array(copy.buffer);
  const halves = new Uint16Array(copy.buffer);
  const out = new Float32Array(halves.length);
  if (type === "bfloat16") {
    const bits = new Uint32Array(out.buffer);
    for (let i = 0; i < halves.length; i++) bits[i] = halves[i]! << 16;
  } else {
    for (let i = 0; i < halves.length; i++) out[i] = fromFloat16(halves[i]!);
  }
  return out;
}

function fromFloat16(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
