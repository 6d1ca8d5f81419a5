// Faults that users of other libraries reported, as tests.
import { describe, expect, it } from "vitest";
import {
  linearLogProbs,
  linearLogProbsBackward,
  tokenLogProbs,
  tokenLogProbsBackward,
} from "../../lib/index.ts";
import { logitsOf } from "../reference/logprob.ts";
import { expectClose, expectSameBits } from "../support/compare.ts";
import { normals, numbersOf, rowTensor, someTargets, tensor } from "./support.ts";

describe("reported faults", () => {
  it("TRL I7221: entropy of [0, 0, -Infinity] is ln 2, with a finite gradient", async () => {
    const logits = rowTensor("float32", [0, 0, Number.NEGATIVE_INFINITY]);
    const target = Int32Array.of(0);
    const forward = await tokenLogProbs(logits, target);
    expectClose(forward.entropy!, [Math.LN2], 1e-7);
    const { data } = await tokenLogProbsBackward(logits, target, forward, {
      gradLogProbs: Float32Array.of(0),
      gradEntropy: Float32Array.of(1),
    });
    expectClose(data, [0, 0, 0], 1e-8);
    expect(Object.is(data[2], 0)).toBe(true);
  });

  it("verl I2088, I2996: log-probs of another batch split are bitwise equal, so the ratio is exactly 1", async () => {
    const [rows, width] = [6, 33_333];
    const logits = tensor("float32", [rows, width], normals(rows * width, 2, 4));
    const targets = someTargets(rows, width);
    const old = (await tokenLogProbs(logits, targets)).logProbs;
    for (const size of [1, 2, 4]) {
      for (let first = 0; first < rows; first += size) {
        const count = Math.min(size, rows - first);
        const data = logits.data.subarray(first * width, (first + count) * width);
        const part = { ...logits, data, dims: [count, width] };
        const { logProbs } = await tokenLogProbs(part, targets.slice(first, first + count));
        for (const [i, value] of logProbs.entries()) expect(Math.exp(value - old[first + i]!)).toBe(1);
        expectSameBits(logProbs, old.slice(first, first + count));
      }
    }
  });

  it("Liger I1082, I968: the fused path equals the unfused one in value and gradient, none of them 0", async () => {
    const [rows, width, vocabulary] = [5, 33, 401] as const;
    const head = {
      hidden: tensor("float64", [rows, width], normals(rows * width, 3)),
      weight: tensor("float64", [vocabulary, width], normals(vocabulary * width, 4, 0.5)),
    };
    const targets = someTargets(rows, vocabulary);
    const explicit = logitsOf(numbersOf(head.hidden), numbersOf(head.weight), undefined, [
      rows,
      width,
      vocabulary,
    ]);
    const logits = tensor("float64", [rows, vocabulary], explicit);
    const [fused, unfused] = [await linearLogProbs(head, targets), await tokenLogProbs(logits, targets)];
    expectClose(fused.logProbs, unfused.logProbs, 1e-12);
    const grads = { gradLogProbs: normals(rows, 5) };
    const { data } = await tokenLogProbsBackward(logits, targets, unfused, grads);
    const { gradHidden } = await linearLogProbsBackward(head, targets, fused, grads);
    for (let i = 0; i < rows; i++) {
      for (let k = 0; k < width; k++) {
        let expected = 0;
        for (let v = 0; v < vocabulary; v++)
          expected += data[i * vocabulary + v]! * head.weight.data[v * width + k]!;
        expectClose([gradHidden.data[i * width + k]!], [expected], 1e-11);
        expect(gradHidden.data[i * width + k]).not.toBe(0);
      }
    }
  });
});
