import { DeviceTensor, type FloatArray } from "../../lib/index.ts";

/** All float arrays of a result by their path, downloaded where they are on the device. */
export async function hostOf(result: unknown): Promise<Record<string, FloatArray>> {
  const found: Record<string, FloatArray> = {};
  const visit = async (value: unknown, path: string): Promise<void> => {
    if (value instanceof DeviceTensor) found[path] = (await value.download()) as FloatArray;
    else if (value instanceof Float32Array || value instanceof Float64Array) found[path] = value;
    else if (value !== null && typeof value === "object" && !ArrayBuffer.isView(value)) {
      for (const [name, inner] of Object.entries(value)) await visit(inner, path ? `${path}.${name}` : name);
    }
  };
  await visit(result, "");
  return found;
}

/** `||actual - expected|| / ||expected||`; 0 where both are 0, NaN where a length or an infinity differs. */
export function normRatio(actual: FloatArray, expected: FloatArray): number {
  if (actual.length !== expected.length) return Number.NaN;
  let [difference, norm] = [0, 0];
  for (const [i, value] of expected.entries()) {
    if (!Object.is(actual[i], value)) difference += (actual[i]! - value) ** 2;
    if (Number.isFinite(value)) norm += value * value;
  }
  return difference === 0 ? 0 : Math.sqrt(difference / norm);
}

/** Nearest bfloat16 (float16) bits, by truncation of a float32; good enough for inputs. */
export function to16Bits(values: Float64Array, type: string): Uint16Array {
  const bits = new Uint32Array(Float32Array.from(values).buffer);
  if (type === "bfloat16") return Uint16Array.from(bits, (word) => word >>> 16);
  return Uint16Array.from(bits, (word) => {
    const [sign, exponent, fraction] = [
      (word >>> 16) & 0x8000,
      ((word >>> 23) & 255) - 112,
      (word >>> 13) & 1023,
    ];
    if (exponent >= 31) return sign | 0x7c00;
    return exponent <= 0 ? sign : sign | (exponent << 10) | fraction;
  });
}
