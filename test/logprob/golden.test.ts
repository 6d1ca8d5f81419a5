// Hand-checked values of log-prob, entropy and their gradients.
import { describe, expect, it } from "vitest";
import { linearLogProbs, tokenLogProbs, tokenLogProbsBackward } from "../../lib/index.ts";
import { expectClose } from "../support/compare.ts";
import { rowTensor, tensor } from "./support.ts";

const first = Int32Array.of(0);

describe("logprob golden values", () => {
  it("z = [1, 2, 3]: entropy .832396 and its gradient", async () => {
    const logits = rowTensor("float64", [1, 2, 3]);
    const forward = await tokenLogProbs(logits, first);
    expectClose(forward.entropy!, [0.832396], 1e-6);
    expectClose(forward.logProbs, [-2.4076059644443806]);
    expectClose(forward.logSumExp, [3.4076059644443806]);
    const { data } = await tokenLogProbsBackward(logits, first, forward, {
      gradLogProbs: Float64Array.of(0),
      gradEntropy: Float64Array.of(1),
    });
    expectClose(data, [0.141817, 0.14077, -0.282587], 1e-6);
  });

  it("the gradient of the log-prob is e_y - p", async () => {
    const logits = rowTensor("float64", [1, 2, 3]);
    const forward = await tokenLogProbs(logits, Int32Array.of(1));
    const { data } = await tokenLogProbsBackward(logits, Int32Array.of(1), forward, {
      gradLogProbs: Float64Array.of(1),
    });
    expectClose(data, [-0.09003057317038046, 1 - 0.24472847105479764, -0.6652409557748219]);
  });

  it.each(["float32", "float64"] as const)("%s: z = [1e4, 1e4 - 1e-3] keeps its digits", async (type) => {
    const logits = rowTensor(type, [1e4, 1e4 - 1e-3]);
    const gap = logits.data[0]! - logits.data[1]!;
    const { logProbs, entropy } = await tokenLogProbs(logits, first);
    expectClose(logProbs, [-Math.log1p(Math.exp(-gap))], type === "float32" ? 1e-7 : 1e-14);
    if (type === "float32") expectClose(logProbs, [-0.692659], 1e-6);
    expectClose(entropy!, [Math.LN2], 3e-7);
  });

  it("bfloat16 [10, 9, 1] is the log-softmax of the stored values, not of rounded steps", async () => {
    expectClose((await tokenLogProbs(rowTensor("bfloat16", [10, 9, 1]), first)).logProbs, [-0.313352], 1e-6);
  });

  it.each(["float32", "float64", "bfloat16", "float16"] as const)(
    "%s: [0, 0, -Infinity] has entropy ln 2 and a finite gradient, 0 at the -Infinity",
    async (type) => {
      const logits = rowTensor(type, [0, 0, Number.NEGATIVE_INFINITY]);
      const forward = await tokenLogProbs(logits, first, { sumSquaredProbs: true });
      expectClose(forward.entropy!, [Math.LN2], 1e-7);
      expectClose(forward.sumSquaredProbs!, [0.5], 1e-7);
      const ones = type === "float64" ? Float64Array.of(1) : Float32Array.of(1);
      const { data } = await tokenLogProbsBackward(
        logits,
        first,
        forward as never,
        {
          gradLogProbs: ones,
          gradEntropy: ones,
        } as never,
      );
      const half = { float32: 0.5, float64: 0.5, bfloat16: 0x3f00, float16: 0x3800 }[type];
      const minusHalf = { float32: -0.5, float64: -0.5, bfloat16: 0xbf00, float16: 0xb800 }[type];
      expectClose(data, [half, minusHalf, 0], 1e-7);
      expect(Object.is(data[2], 0)).toBe(true);
    },
  );

  it.each(["float32", "float64"] as const)(
    "%s: a target at -Infinity has log-prob -Infinity",
    async (type) => {
      const logits = rowTensor(type, [1, Number.NEGATIVE_INFINITY]);
      const target = Int32Array.of(1);
      const forward = await tokenLogProbs(logits, target);
      expect(forward.logProbs[0]).toBe(Number.NEGATIVE_INFINITY);
      const ones = type === "float64" ? Float64Array.of(1) : Float32Array.of(1);
      const { data } = await tokenLogProbsBackward(
        logits,
        target,
        forward as never,
        { gradLogProbs: ones } as never,
      );
      expect([...data]).toEqual([-1, 0]);
    },
  );

  it("a certain token has log-prob, entropy +0 and sum p^2 1", async () => {
    for (const type of ["float32", "float64"] as const) {
      const certain = [Number.NEGATIVE_INFINITY, 7, Number.NEGATIVE_INFINITY, -1e30];
      const result = await tokenLogProbs(rowTensor(type, certain), Int32Array.of(1), {
        sumSquaredProbs: true,
      });
      for (const value of [result.logProbs[0], result.entropy![0]]) expect(Object.is(value, 0)).toBe(true);
      expect(result.sumSquaredProbs![0]).toBe(1);
      expect(result.logSumExp[0]).toBe(7);
    }
  });

  it("equal logits: ln V, at any size of the logits", async () => {
    for (const value of [0, 3e38, -3e38, 1e-45]) {
      const logits = tensor("float32", [1, 1025], new Array(1025).fill(value));
      const { logProbs, entropy } = await tokenLogProbs(logits, first);
      expectClose(logProbs, [-Math.log(1025)], 1e-7);
      expectClose(entropy!, [Math.log(1025)], 1e-7);
    }
  });

  it("temperature divides the logits", async () => {
    const cool = await tokenLogProbs(rowTensor("float64", [1, 2, 3]), first, { temperature: 0.5 });
    expectClose(cool.logProbs, (await tokenLogProbs(rowTensor("float64", [2, 4, 6]), first)).logProbs);
  });

  it("linear: two tokens of a one-column head", async () => {
    const head = {
      hidden: tensor("float64", [2, 1], [1, -2]),
      weight: tensor("float64", [2, 1], [0, Math.log(3)]),
      bias: tensor("float64", [2], [0, 0]),
    };
    const { logProbs } = await linearLogProbs(head, Int32Array.of(1, 1));
    expectClose(logProbs, [Math.log(3 / 4), Math.log(1 / 9 / (1 + 1 / 9))]);
  });
});
