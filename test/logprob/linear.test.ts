import { afterAll, describe, expect, it } from "vitest";
import {
  getNumThreads,
  type LinearHead,
  linearLogProbs,
  linearLogProbsBackward,
  type LogProbs,
  setNumThreads,
  type TensorType,
  tokenLogProbs,
  tokenLogProbsBackward,
} from "../../lib/index.ts";
import { logitsOf, rowOf } from "../reference/logprob.ts";
import { expectClose, expectGradient, expectSameBits } from "../support/compare.ts";
import { normals, numbersOf, someTargets, tensor } from "./support.ts";

const threads = getNumThreads();
afterAll(() => setNumThreads(threads));
const everything = { sumSquaredProbs: true } as const;

type Shape = readonly [rows: number, width: number, vocabulary: number];

// Shapes around the blocks: 192 (96 in float64) tokens per tile, 6 rows, 16 columns, depth 256, 256 positions.
const shapes: Shape[] = [
  [1, 1, 1],
  [1, 3, 2],
  [2, 255, 17],
  [7, 257, 191],
  [17, 64, 193],
  [33, 100, 1025],
  [257, 20, 500],
  [300, 300, 97],
];

function headOf<K extends TensorType>(
  type: K,
  [rows, width, vocabulary]: Shape,
  withBias = true,
): LinearHead<K> {
  return {
    hidden: tensor(type, [rows, width], normals(rows * width, 1)),
    weight: tensor(type, [vocabulary, width], normals(vocabulary * width, 2, 3 / Math.sqrt(width))),
    ...(withBias ? { bias: tensor(type, [vocabulary], normals(vocabulary, 3)) } : {}),
  };
}

// The same head with the logits written out, in float64.
function composed(head: LinearHead, [rows, width, vocabulary]: Shape) {
  const bias = head.bias === undefined ? undefined : numbersOf(head.bias);
  const data = logitsOf(numbersOf(head.hidden), numbersOf(head.weight), bias, [rows, width, vocabulary]);
  return tensor("float64", [rows, vocabulary], data);
}

const floats = (type: TensorType, values: Iterable<number>) =>
  (type === "float64" ? Float64Array.from(values) : Float32Array.from(values)) as Float32Array;
// Products accumulate in float32: a few 1e-6 of logits of size 10.
const boundOf = (type: TensorType) => (type === "float64" ? 1e-11 : 5e-6);

describe.each(["float32", "float64", "bfloat16", "float16"] as const)("linearLogProbs of %s", (type) => {
  it.each(shapes)("%i x %i states, %i tokens: as from explicit logits", async (...shape) => {
    for (const withBias of [true, false]) {
      const head = headOf(type, shape, withBias);
      const targets = someTargets(shape[0], shape[2]);
      const logits = composed(head, shape);
      for (const temperature of [1, 0.6]) {
        const result = await linearLogProbs(head, targets, { ...everything, temperature });
        const expected = await tokenLogProbs(logits, targets, { ...everything, temperature });
        for (const name of Object.keys(expected) as (keyof LogProbs)[])
          expectClose(result[name]!, expected[name]!, boundOf(type));
      }
    }
  });

  it.each(shapes)("%i x %i states, %i tokens: gradients as from explicit logits", async (...shape) => {
    const [rows, width, vocabulary] = shape;
    const head = headOf(type, shape);
    const targets = someTargets(rows, vocabulary);
    const temperature = 0.8;
    const forward = await linearLogProbs(head, targets, { temperature });
    const [g, h] = [floats(type, normals(rows, 4)), floats(type, normals(rows, 5))];
    const gradients = { gradLogProbs: g, gradEntropy: h } as never;
    const result = await linearLogProbsBackward(head, targets, forward, gradients, { temperature });

    const logits = composed(head, shape);
    const wide = { gradLogProbs: Float64Array.from(g), gradEntropy: Float64Array.from(h) };
    const reference = await tokenLogProbs(logits, targets, { temperature });
    const d = (await tokenLogProbsBackward(logits, targets, reference, wide, { temperature })).data;
    const [hidden, weight] = [numbersOf(head.hidden), numbersOf(head.weight)];
    const gradHidden = new Float64Array(rows * width);
    const gradWeight = new Float64Array(vocabulary * width);
    const gradBias = new Float64Array(vocabulary);
    for (let i = 0; i < rows; i++) {
      for (let v = 0; v < vocabulary; v++) {
        const slope = d[i * vocabulary + v]!;
        gradBias[v]! += slope;
        for (let k = 0; k < width; k++) {
          gradHidden[i * width + k]! += slope * weight[v * width + k]!;
          gradWeight[v * width + k]! += slope * hidden[i * width + k]!;
        }
      }
    }
    const bound = type === "float64" ? 1e-10 : 3e-5;
    expectClose(result.gradHidden.data, gradHidden, bound);
    expectClose(result.gradWeight.data, gradWeight, bound);
    expectClose(result.gradBias!.data, gradBias, bound);
    expect(result.gradWeight.dims).toEqual([vocabulary, width]);
    expect(result.gradHidden.type).toBe(type === "float64" ? "float64" : "float32");
  });

  it("batch split and number of threads change no bit", async () => {
    const shape = [301, 70, 1001] as const;
    const head = headOf(type, shape);
    const targets = someTargets(shape[0], shape[2]);
    setNumThreads(1);
    const whole = await linearLogProbs(head, targets, everything);
    const grads = {
      gradLogProbs: floats(type, normals(301, 6)),
      gradEntropy: floats(type, normals(301, 7)),
    } as never;
    const backward = await linearLogProbsBackward(head, targets, whole, grads);
    setNumThreads(3);
    const again = await linearLogProbsBackward(head, targets, whole, grads);
    for (const name of ["gradHidden", "gradWeight", "gradBias"] as const)
      expectSameBits(again[name]!.data, backward[name]!.data);
    for (const [first, count] of [
      [0, 301],
      [3, 1],
      [250, 51],
    ] as const) {
      const data = head.hidden.data.slice(first * 70, (first + count) * 70);
      const hidden = { ...head.hidden, data, dims: [count, 70] } as typeof head.hidden;
      const part = await linearLogProbs({ ...head, hidden }, targets.slice(first, first + count), everything);
      for (const name of Object.keys(part) as (keyof LogProbs)[])
        expectSameBits(part[name]!, whole[name]!.slice(first, first + count));
    }
  });
});

describe("linearLogProbs", () => {
  it("mixes float32 states with a bfloat16 weight", async () => {
    const shape = [5, 40, 200] as const;
    const [wide, narrow] = [headOf("float32", shape), headOf("bfloat16", shape)];
    const head = { hidden: wide.hidden, weight: narrow.weight, bias: wide.bias! };
    const targets = someTargets(5, 200);
    const result = await linearLogProbs<"float32" | "bfloat16">(head, targets);
    const expected = await tokenLogProbs(composed(head, shape), targets);
    expectClose(result.logProbs, expected.logProbs, 5e-6);
  });

  it("-Infinity in the bias bans a token: probability 0, gradient exactly 0", async () => {
    const head = headOf("float32", [4, 10, 30]);
    head.bias!.data[7] = Number.NEGATIVE_INFINITY;
    const targets = Int32Array.of(7, 1, 2, 3);
    const forward = await linearLogProbs(head, targets);
    expect(forward.logProbs[0]).toBe(Number.NEGATIVE_INFINITY);
    const ones = Float32Array.of(1, 1, 1, 1);
    const result = await linearLogProbsBackward(head, targets, forward, {
      gradLogProbs: ones,
      gradEntropy: ones,
    });
    for (const value of rowOf(result.gradWeight.data, 10, 7)) expect(Object.is(value, 0)).toBe(true);
    expect(Object.is(result.gradBias!.data[7], 0)).toBe(true);
    for (const value of result.gradHidden.data) expect(Number.isFinite(value)).toBe(true);
  });

  it("a whole tile at -Infinity, and all of it", async () => {
    const head = headOf("float32", [2, 4, 400]);
    head.bias!.data.fill(Number.NEGATIVE_INFINITY, 0, 399);
    const result = await linearLogProbs(head, Int32Array.of(399, 399));
    expect([...result.logProbs]).toEqual([0, 0]);
    expect([...result.entropy!]).toEqual([0, 0]);
    head.bias!.data.fill(Number.NEGATIVE_INFINITY);
    await expect(linearLogProbs(head, Int32Array.of(0, 0))).rejects.toMatchObject({ code: "ERR_NOT_FINITE" });
  });

  it("the fused gradients match central differences in float64", async () => {
    const [rows, width, vocabulary] = [3, 4, 7] as const;
    const head = headOf("float64", [rows, width, vocabulary]);
    const targets = someTargets(rows, vocabulary);
    const [g, h] = [normals(rows, 8), normals(rows, 9)];
    const objective = (hidden: Float64Array, weight: Float64Array, bias: Float64Array) => {
      const logits = logitsOf(hidden, weight, bias, [rows, width, vocabulary]);
      let total = 0;
      for (let i = 0; i < rows; i++) {
        const row = rowOf(logits, vocabulary, i);
        const sum = row.reduce((all, x) => all + Math.exp(x), 0);
        const entropy = row.reduce((all, x) => all - (Math.exp(x) / sum) * (x - Math.log(sum)), 0);
        total += g[i]! * (row[targets[i]!]! - Math.log(sum)) + h[i]! * entropy;
      }
      return total;
    };
    const forward = await linearLogProbs(head, targets);
    const grads = { gradLogProbs: g, gradEntropy: h };
    const { gradHidden, gradWeight, gradBias } = await linearLogProbsBackward(head, targets, forward, grads);
    const [x, w, b] = [head.hidden.data, head.weight.data, head.bias!.data];
    expectGradient((at) => objective(at, w, b), x, gradHidden.data, 1e-8);
    expectGradient((at) => objective(x, at, b), w, gradWeight.data, 1e-8);
    expectGradient((at) => objective(x, w, at), b, gradBias!.data, 1e-8);
  });

  it("writes into the memory it is given, whatever is in it", async () => {
    const head = headOf("float32", [3, 20, 50]);
    const targets = someTargets(3, 50);
    const forward = await linearLogProbs(head, targets);
    const grads = { gradLogProbs: Float32Array.of(1, 2, 3) };
    const fresh = await linearLogProbsBackward(head, targets, forward, grads);
    const out = {
      gradHidden: new Float32Array(60).fill(Number.NaN),
      gradWeight: new Float32Array(1000).fill(Number.NaN),
      gradBias: new Float32Array(50).fill(Number.NaN),
    };
    const reused = await linearLogProbsBackward(head, targets, forward, grads, { out });
    for (const name of ["gradHidden", "gradWeight", "gradBias"] as const) {
      expect(reused[name]!.data).toBe(out[name]);
      expectSameBits(reused[name]!.data, fresh[name]!.data);
    }
  });
});
