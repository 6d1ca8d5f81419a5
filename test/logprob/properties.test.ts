import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import {
  getNumThreads,
  type LogProbs,
  setNumThreads,
  type Tensor,
  type TensorType,
  tokenLogProbs,
  tokenLogProbsBackward,
} from "../../lib/index.ts";
import { distribution, gradient, rowOf } from "../reference/logprob.ts";
import { expectClose, expectGradient, expectSameBits } from "../support/compare.ts";
import { permutation, seeded } from "../support/generators.ts";
import { batches, normals, numbersOf, oddSizes, rowTensor, select, someTargets, tensor } from "./support.ts";

const threads = getNumThreads();
afterAll(() => setNumThreads(threads));
const everything = { sumSquaredProbs: true } as const;
const types = ["float32", "float64", "bfloat16", "float16"] as const;

// Results within the documented bound of the definitions in float64.
function expectExact(
  result: LogProbs,
  logits: Tensor,
  targets: Int32Array,
  temperature: number,
  bound: number,
) {
  const [rows, width] = logits.dims as [number, number];
  const values = numbersOf(logits);
  for (let i = 0; i < rows; i++) {
    const reference = distribution(rowOf(values, width, i), temperature);
    expectClose([result.logProbs[i]!], [reference.logProbs[targets[i]!]!], bound);
    expectClose([result.entropy![i]!], [reference.entropy], bound);
    expectClose([result.logSumExp[i]!], [reference.logSumExp], bound);
    expectClose([result.sumSquaredProbs![i]!], [reference.squares], bound);
  }
}

const boundOf = (type: TensorType) => (type === "float64" ? 1e-12 : 1e-6);
const upstream = (type: TensorType, values: number[]) =>
  (type === "float64" ? Float64Array.from(values) : Float32Array.from(values)) as Float32Array;

describe.each(types)("tokenLogProbs of %s logits", (type) => {
  it("agrees with the definition in float64 on the stored values, at any temperature", async () => {
    await fc.assert(
      fc.asyncProperty(
        batches,
        fc.constantFrom(0.3, 1, 2.5),
        async ({ dims, values, targets }, temperature) => {
          const logits = tensor(type, dims, values);
          const result = await tokenLogProbs(logits, targets, { ...everything, temperature });
          expectExact(result, logits, targets, temperature, boundOf(type));
        },
      ),
      seeded,
    );
  });

  it.each(oddSizes)("vocabulary of %i", async (width) => {
    const logits = tensor(type, [3, width], normals(3 * width, width, 4));
    const targets = someTargets(3, width);
    expectExact(await tokenLogProbs(logits, targets, everything), logits, targets, 1, boundOf(type));
  });

  it("a row longer than one segment, its maximum anywhere", async () => {
    const width = 100_003;
    for (const peak of [0, 40_000, width - 1]) {
      const values = normals(width, 5, 3);
      values[peak] = 25;
      const logits = tensor(type, [1, width], values);
      const targets = Int32Array.of(peak);
      expectExact(await tokenLogProbs(logits, targets, everything), logits, targets, 1, boundOf(type));
    }
  });

  it("the same logits in another batch split give the same bits", async () => {
    const [rows, width] = [7, 40_001];
    const logits = tensor(type, [rows, width], normals(rows * width, 9, 3));
    const targets = someTargets(rows, width);
    const whole = await tokenLogProbs(logits, targets, everything);
    const order = [4, 2, 6, 0];
    const data = order.flatMap((i) => rowOf(logits.data, width, i));
    const part = await tokenLogProbs(
      { type, dims: [4, width], data: (logits.data.constructor as typeof Float64Array).from(data) } as Tensor,
      Int32Array.from(order, (i) => targets[i]!),
      everything,
    );
    for (const [name, values] of Object.entries(select(whole, order)))
      expectSameBits(part[name as keyof LogProbs]!, values);
  });

  it("the number of threads changes no bit, forward and backward", async () => {
    const [rows, width] = [3, 70_001];
    const logits = tensor(type, [rows, width], normals(rows * width, 11, 3));
    const targets = someTargets(rows, width);
    const runs: Float64Array[][] = [];
    for (const count of [1, 2, 5]) {
      setNumThreads(count);
      const forward = await tokenLogProbs(logits, targets, everything);
      const { data } = await tokenLogProbsBackward(
        logits,
        targets,
        forward as never,
        {
          gradLogProbs: upstream(type, [1, -0.5, 2]),
          gradEntropy: upstream(type, [0.1, 0, -1]),
        } as never,
      );
      runs.push([...Object.values(forward), data as Float64Array]);
    }
    for (const run of runs.slice(1))
      for (const [i, values] of run.entries()) expectSameBits(values, runs[0]![i]!);
  });

  it("the gradient agrees with its formula in float64, in place too", async () => {
    await fc.assert(
      fc.asyncProperty(
        batches,
        fc.constantFrom(0.3, 1, 2.5),
        async ({ dims, values, targets }, temperature) => {
          const logits = tensor(type, dims, values);
          const [rows, width] = dims;
          const gradLogProbs = upstream(type, [...normals(rows, 3)]);
          const gradEntropy = upstream(type, [...normals(rows, 4)]);
          const stored = numbersOf(logits);
          const forward = await tokenLogProbs(logits, targets, { temperature });
          const call = (out?: Tensor["data"]) =>
            tokenLogProbsBackward(logits, targets, forward as never, { gradLogProbs, gradEntropy } as never, {
              temperature,
              ...(out === undefined ? {} : { out: out as never }),
            });
          const result = await call();
          const eps = { float32: 4e-6, float64: 1e-12, bfloat16: 4e-3, float16: 6e-4 }[type];
          for (let i = 0; i < rows; i++) {
            const [g, h] = [gradLogProbs[i]!, gradEntropy[i]!];
            const expected = gradient(rowOf(stored, width, i), targets[i]!, g, h, temperature);
            expectClose(rowOf(numbersOf(result), width, i), expected, eps);
          }
          stored.forEach((x, i) => {
            if (x === Number.NEGATIVE_INFINITY) expect(Object.is(result.data[i], 0)).toBe(true);
          });
          const inPlace = await call(logits.data);
          expect(inPlace.data).toBe(logits.data);
          expectSameBits(logits.data, result.data);
        },
      ),
      seeded,
    );
  });
});

describe.each(["bfloat16", "float16"] as const)("%s logits", (type) => {
  it("give the bits of the same values as float32, and the gradient rounds the float32 one", async () => {
    for (const width of oddSizes) {
      const logits = tensor(type, [2, width], normals(2 * width, width, 6));
      const wide = tensor("float32", [2, width], numbersOf(logits));
      const targets = someTargets(2, width);
      const result = await tokenLogProbs(logits, targets, everything);
      const expected = await tokenLogProbs(wide, targets, everything);
      for (const name of Object.keys(expected) as (keyof LogProbs)[])
        expectSameBits(result[name]!, expected[name]!);
      const grads = { gradLogProbs: Float32Array.of(1, -2), gradEntropy: Float32Array.of(0.3, 0.1) };
      const narrow = await tokenLogProbsBackward(logits, targets, result, grads);
      const full = await tokenLogProbsBackward(wide, targets, expected, grads);
      expectSameBits(narrow.data, tensor(type, [2, width], full.data).data);
    }
  });

  it("every bit pattern is read exactly", async () => {
    for (let high = 0; high < 256; high++) {
      const data = Uint16Array.from({ length: 256 }, (_, low) => (high << 8) | low);
      const finite = data.map((bits) =>
        Number.isFinite(numbersOf({ type, data: Uint16Array.of(bits), dims: [1] })[0]) ? bits : 0,
      );
      const values = numbersOf({ type, data: finite, dims: [256] });
      // A row of its own and a 0 for each: log-prob of the 0 tells the value to full precision near 0, its size elsewhere.
      const pairs = tensor(
        "float32",
        [256, 2],
        values.flatMap((x) => [x, 0]),
      );
      const bits = Uint16Array.from({ length: 512 }, (_, i) => (i % 2 === 0 ? finite[i / 2]! : 0));
      const targets = new Int32Array(256);
      const narrow = await tokenLogProbs({ type, data: bits, dims: [256, 2] }, targets);
      const wide = await tokenLogProbs(pairs, targets);
      expectSameBits(narrow.logProbs, wide.logProbs);
      expectSameBits(narrow.logSumExp, wide.logSumExp);
    }
  });
});

describe("tokenLogProbs", () => {
  it("a constant added to a row changes nothing but its logsumexp", async () => {
    await fc.assert(
      fc.asyncProperty(batches, fc.double({ min: -100, max: 100, noNaN: true }), async (batch, shift) => {
        const { dims, values, targets } = batch;
        const plain = await tokenLogProbs(tensor("float64", dims, values), targets, everything);
        const moved = values.map((x) => x + shift);
        const shifted = await tokenLogProbs(tensor("float64", dims, moved), targets, everything);
        expectClose(shifted.logProbs, plain.logProbs, 1e-11);
        expectClose(shifted.entropy!, plain.entropy!, 1e-11);
        expectClose(shifted.sumSquaredProbs!, plain.sumSquaredProbs!, 1e-11);
        expectClose(
          shifted.logSumExp,
          plain.logSumExp.map((x) => x + shift),
          1e-11,
        );
      }),
      seeded,
    );
  });

  it("permuting the rows permutes the result, bit for bit", async () => {
    const cases = batches.chain((batch) => fc.tuple(fc.constant(batch), permutation(batch.dims[0])));
    await fc.assert(
      fc.asyncProperty(cases, async ([{ dims, values, targets }, order]) => {
        const plain = await tokenLogProbs(tensor("float32", dims, values), targets);
        const permuted = await tokenLogProbs(
          tensor(
            "float32",
            dims,
            order.flatMap((i) => rowOf(values, dims[1], i)),
          ),
          Int32Array.from(order, (i) => targets[i]!),
        );
        for (const [name, expected] of Object.entries(select(plain, order)))
          expectSameBits(permuted[name as keyof LogProbs]!, expected);
      }),
      seeded,
    );
  });

  it("huge offsets lose nothing: float32 logits near 2^20 against float64", async () => {
    const values = normals(1000, 21, 2).map((x) => Math.fround(2 ** 20 + x));
    const [single, double] = [tensor("float32", [1, 1000], values), tensor("float64", [1, 1000], values)];
    const targets = Int32Array.of(17);
    const [a, b] = [
      await tokenLogProbs(single, targets, everything),
      await tokenLogProbs(double, targets, everything),
    ];
    expectClose(a.logProbs, b.logProbs, 1e-6);
    expectClose(a.entropy!, b.entropy!, 1e-6);
    expectClose(a.sumSquaredProbs!, b.sumSquaredProbs!, 1e-6);
    const grad = { gradLogProbs: Float32Array.of(1), gradEntropy: Float32Array.of(1) };
    const wide = { gradLogProbs: Float64Array.of(1), gradEntropy: Float64Array.of(1) };
    expectClose(
      (await tokenLogProbsBackward(single, targets, a, grad)).data,
      (await tokenLogProbsBackward(double, targets, b, wide)).data,
      1e-6,
    );
  });

  it("subnormal logits and the largest finite ones are ordinary numbers", async () => {
    const tiny = await tokenLogProbs(rowTensor("float32", [1e-45, -1e-45, 0]), Int32Array.of(0));
    expectClose(tiny.logProbs, [-Math.log(3)], 1e-7);
    const huge = await tokenLogProbs(rowTensor("float32", [1.5e38, -1.5e38]), Int32Array.of(1));
    expect(huge.entropy![0]).toBe(0);
    expectClose(huge.logProbs, [Math.fround(-1.5e38) * 2], 1e-7);
  });

  it("a row without -Infinity and the same row with some between: the same distribution", async () => {
    const values = [...normals(300, 8, 3)];
    const holed = values.flatMap((x) => [Number.NEGATIVE_INFINITY, x]);
    const plain = await tokenLogProbs(rowTensor("float64", values), Int32Array.of(5), everything);
    const between = await tokenLogProbs(rowTensor("float64", holed), Int32Array.of(11), everything);
    for (const name of Object.keys(plain) as (keyof LogProbs)[])
      expectClose(between[name]!, plain[name]!, 1e-13);
  });

  it("gradients match central differences", async () => {
    const width = 6;
    const values = Float64Array.from(normals(2 * width, 13, 2));
    const targets = Int32Array.of(1, 4);
    const temperature = 0.7;
    const [g, h] = [Float64Array.of(0.5, -1.5), Float64Array.of(1.25, 0.25)];
    const objective = (x: Float64Array) =>
      [0, 1].reduce((total, i) => {
        const { logProbs, entropy } = distribution(rowOf(x, width, i), temperature);
        return total + g[i]! * logProbs[targets[i]!]! + h[i]! * entropy;
      }, 0);
    const logits = tensor("float64", [2, width], values);
    const forward = await tokenLogProbs(logits, targets, { temperature });
    const gradients = { gradLogProbs: g, gradEntropy: h };
    const { data } = await tokenLogProbsBackward(logits, targets, forward, gradients, { temperature });
    expectGradient(objective, values, data, 1e-8);
  });

  it("leaves the logits alone and returns what was asked for", async () => {
    const logits = rowTensor("float32", [1, 2, 3]);
    const result = await tokenLogProbs(logits, Int32Array.of(2), { entropy: false });
    expect(Object.keys(result).sort()).toEqual(["logProbs", "logSumExp"]);
    await tokenLogProbsBackward(logits, Int32Array.of(2), result, { gradLogProbs: Float32Array.of(1) });
    expect([...logits.data]).toEqual([1, 2, 3]);
  });
});
