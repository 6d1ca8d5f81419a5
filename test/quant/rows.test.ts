import { describe, expect, test } from "vitest";
import { capabilities, setNumThreads } from "../../lib/index.ts";
import { type Bits, BLOCK, quantizeRows, roomFor } from "../../lib/quant/rows.ts";
import { quantize, restore } from "../reference/quant.ts";
import { normal, random, type TestTensor, tensor } from "../support/checkpoint.ts";
import { expectClose, expectSameBits } from "../support/compare.ts";

const TYPES = { BF16: "bfloat16", F16: "float16", F32: "float32" } as const;

async function quantized({ dtype, shape, bytes }: TestTensor, bits: Bits, signal?: AbortSignal) {
  const [rows, columns] = shape as [number, number];
  const out = roomFor(rows, columns, bits);
  const stored = { type: TYPES[dtype], bytes, rows, columns, name: "weight", firstRow: 100 };
  await quantizeRows(stored, bits, out, signal);
  return out;
}

const floats = (values: Float32Array, columns: number): TestTensor => ({
  dtype: "F32",
  shape: [values.length / columns, columns],
  bytes: new Uint8Array(values.buffer),
  values: Float64Array.from(values),
});

describe.each([4, 8] as const)("%i bits", (bits) => {
  for (const dtype of ["BF16", "F16", "F32"] as const) {
    for (const columns of [1, 31, 32, 80, 1056, 2000]) {
      test(`${dtype} rows of ${columns}: the bits of the reference`, async () => {
        const weight = tensor(random(columns), dtype, [37, columns], 0.3);
        const expected = quantize(Float32Array.from(weight.values), columns, bits);
        const { packed, scales } = await quantized(weight, bits);
        expectSameBits(scales, expected.scales);
        expect(packed).toEqual(expected.packed);
      });
    }
  }

  test("ties, zeros, opposite ends, the largest and smallest numbers: the bits of the reference", async () => {
    const eighths = Float32Array.from({ length: 320 }, (_, i) => ((i % 41) - 20) / 8);
    const edges = Float32Array.of(3e38, -3e38, 1e-45, -1e-45, 1e-38, 0, -0, 1, ...new Float32Array(56));
    const tiny = Float32Array.from({ length: 64 }, (_, i) => (i - 20) * 1e-44);
    const weight = floats(Float32Array.of(...eighths, ...edges, ...tiny), 64);
    const expected = quantize(Float32Array.from(weight.values), 64, bits);
    const { packed, scales } = await quantized(weight, bits);
    expectSameBits(scales, expected.scales);
    expect(packed).toEqual(expected.packed);
  });

  test("the error is at most half a scale, a whole one at the far end", async () => {
    const uniform = random(4);
    const weight = floats(
      Float32Array.from({ length: 5 * 80 }, () => normal(uniform)),
      80,
    );
    const result = await quantized(weight, bits);
    const restored = restore(result, 400, 80, bits);
    for (const [i, value] of weight.values.entries()) {
      const scale = result.scales[Math.floor(i / 80) * 3 + Math.floor((i % 80) / BLOCK)]!;
      const end = value / scale > 2 ** (bits - 1) - 1;
      expect(Math.abs(value - restored[i]!)).toBeLessThanOrEqual(
        Math.abs(scale) * (end ? 1 : 0.5) * 1.000001,
      );
    }
  });

  test("zeros and whole steps are exact", async () => {
    const zeros = floats(new Float32Array(64), 64);
    expectClose(restore(await quantized(zeros, bits), 64, 64, bits), zeros.values, 0);
    const steps = floats(
      Float32Array.from({ length: 32 }, (_, i) => 0.25 * ((i % 16) - 8)),
      32,
    );
    expectClose(restore(await quantized(steps, bits), 32, 32, bits), steps.values, 0);
  });

  test("the same bits for every number of threads", async () => {
    const weight = tensor(random(9), "BF16", [500, 400], 1);
    const { threads } = capabilities();
    setNumThreads(1);
    const one = await quantized(weight, bits);
    for (const count of [2, 5]) {
      setNumThreads(count);
      const many = await quantized(weight, bits);
      expectSameBits(many.scales, one.scales);
      expect(Buffer.compare(many.packed, one.packed)).toBe(0);
    }
    setNumThreads(threads);
  });

  test.each([NaN, Infinity, -Infinity])("%d among the weights is an error that says where", async (bad) => {
    const values = new Float32Array(3 * 50);
    values[2 * 50 + 7] = bad;
    await expect(quantized(floats(values, 50), bits)).rejects.toMatchObject({
      code: "ERR_NOT_FINITE",
      message: "weight: expected finite weights, found NaN or infinity in row 102, column 7",
    });
  });
});

test("is cancelled by a signal, before and during", async () => {
  const weight = tensor(random(2), "BF16", [2, 64], 1);
  await expect(quantized(weight, 8, AbortSignal.abort(new Error("early")))).rejects.toThrow("early");
  const stop = new AbortController();
  const running = quantized(weight, 8, stop.signal);
  stop.abort(new Error("late"));
  await expect(running).rejects.toThrow("late");
});
