// Tensors for the log-prob tests.
import fc from "fast-check";
import type { LogProbs, Tensor, TensorType } from "../../lib/index.ts";
import { narrow, widen } from "../reference/logprob.ts";

/** A tensor of the numbers, rounded to the type. */
export function tensor<K extends TensorType>(type: K, dims: number[], values: Iterable<number>): Tensor<K> {
  const data =
    type === "float32"
      ? Float32Array.from(values)
      : type === "float64"
        ? Float64Array.from(values)
        : Uint16Array.from(values, (x) => narrow(x, type as "bfloat16" | "float16"));
  return { type, data, dims } as unknown as Tensor<K>;
}

/** The numbers that a tensor stores. */
export function numbersOf({ type, data }: Tensor): number[] {
  if (type === "bfloat16" || type === "float16") return Array.from(data, (bits) => widen(bits, type));
  return Array.from(data);
}

/** A one-row tensor. */
export function rowTensor<K extends TensorType>(type: K, values: number[]): Tensor<K> {
  return tensor(type, [1, values.length], values);
}

/** Normal deviates from a small generator, the same ones every time. */
export function normals(count: number, seed = 1, scale = 1): Float64Array<ArrayBuffer> {
  let state = (seed * 2654435761) >>> 0;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  return Float64Array.from(
    { length: count },
    () => scale * Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
  );
}

/** Token ids spread over a vocabulary. */
export function someTargets(rows: number, vocabulary: number): Int32Array<ArrayBuffer> {
  return Int32Array.from({ length: rows }, (_, i) => (i * 7919 + 3) % vocabulary);
}

/** Vocabulary sizes around the widths that the kernels work in. */
export const oddSizes = [1, 2, 15, 16, 17, 127, 129, 1023, 1025, 4099] as const;

/** A small batch: rows of logits of one width (some -Infinity, at least one finite each) and a target per row. */
export const batches = fc
  .record({ rows: fc.integer({ min: 1, max: 5 }), width: fc.integer({ min: 1, max: 24 }) })
  .chain(({ rows, width }) =>
    fc.record({
      rows: fc.constant(rows),
      width: fc.constant(width),
      finite: fc.array(fc.double({ min: -30, max: 30, noNaN: true }), {
        minLength: rows * width,
        maxLength: rows * width,
      }),
      holes: fc.array(fc.boolean(), { minLength: rows * width, maxLength: rows * width }),
      targets: fc.array(fc.nat(width - 1), { minLength: rows, maxLength: rows }),
    }),
  )
  .map(({ rows, width, finite, holes, targets }) => ({
    dims: [rows, width] as [number, number],
    // About half of the holes; the first column is always finite.
    values: finite.map((x, i) => (holes[i] && i % width !== 0 && i % 2 === 0 ? Number.NEGATIVE_INFINITY : x)),
    targets: Int32Array.from(targets),
  }));

/** The rows of a result, selected. */
export function select(result: LogProbs, rows: readonly number[]): Record<string, number[]> {
  return Object.fromEntries(
    Object.entries(result).map(([name, values]) => [name, rows.map((i) => (values as Float64Array)[i]!)]),
  );
}
