import { describe, expect, expectTypeOf, it } from "vitest";
import { type LogProbs, type Tensor, tokenLogProbs } from "../../lib/index.ts";
import { expectSameBits } from "../support/compare.ts";
import { rowTensor } from "./support.ts";

// The members of onnxruntime-common's tensor of one type that matter here, as it declares them.
interface TypedTensor<K extends "float32" | "float64" | "float16"> {
  readonly type: K;
  readonly dims: readonly number[];
  readonly data: { float32: Float32Array; float64: Float64Array; float16: Uint16Array }[K];
  readonly location: "cpu" | "gpu-buffer";
  dispose(): void;
}

describe("Tensor", () => {
  it("is what an ONNX runtime returns, and the result follows its type", async () => {
    expectTypeOf<TypedTensor<"float32">>().toExtend<Tensor<"float32">>();
    expectTypeOf<TypedTensor<"float16">>().toExtend<Tensor<"float16">>();
    expectTypeOf<LogProbs<"float16">["logProbs"]>().toEqualTypeOf<Float32Array<ArrayBuffer>>();
    expectTypeOf<LogProbs<"float64">["logProbs"]>().toEqualTypeOf<Float64Array<ArrayBuffer>>();
    const output: TypedTensor<"float32"> = {
      type: "float32",
      dims: [1, 3],
      data: Float32Array.of(1, 2, 3),
      location: "cpu",
      dispose() {},
    };
    const { logProbs } = await tokenLogProbs(output, Int32Array.of(2));
    expectTypeOf(logProbs).toEqualTypeOf<Float32Array<ArrayBuffer>>();
    expect(logProbs[0]).toBeCloseTo(-0.4076, 4);
  });

  it("float16 data may be a Float16Array, where the runtime has one", async () => {
    class Float16Array extends Uint16Array<ArrayBuffer> {
      override get [Symbol.toStringTag](): never {
        return "Float16Array" as never;
      }
    }
    const plain = rowTensor("float16", [1, 2, 3]);
    const padded = new Float16Array(new ArrayBuffer(8)).subarray(1);
    padded.set(plain.data);
    const viewed = await tokenLogProbs({ ...plain, data: padded }, Int32Array.of(0));
    expectSameBits(viewed.logProbs, (await tokenLogProbs(plain, Int32Array.of(0))).logProbs);
  });

  it("a view into a larger buffer is read where it stands", async () => {
    const memory = Float32Array.of(9, 9, 1, 2, 3, 9);
    const { logProbs } = await tokenLogProbs(
      { type: "float32", data: memory.subarray(2, 5), dims: [1, 3] },
      Int32Array.of(0),
    );
    expect(logProbs[0]).toBeCloseTo(-2.4076, 4);
  });
});
