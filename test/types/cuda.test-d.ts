import { describe, expectTypeOf, it } from "vitest";
import {
  type DeviceLogProbs,
  type DeviceTensor,
  type Gpu,
  minForm,
  type MinFormCredit,
  minFormBackward,
  ragged,
  type Ragged,
  tokenLogProbs,
} from "../../lib/index.ts";

declare const gpu: Gpu;
const targets = Int32Array.of(0);

describe("device tensors", () => {
  it("uploads keep the element type", () => {
    expectTypeOf(gpu.upload(new Float32Array(1))).toEqualTypeOf<DeviceTensor<"float32">>();
    expectTypeOf(gpu.upload(ragged([[1]]))).toEqualTypeOf<Ragged<DeviceTensor<"float64">>>();
    expectTypeOf(gpu.zeros("bfloat16", [2]).download()).resolves.toEqualTypeOf<Uint16Array<ArrayBuffer>>();
  });

  it("results are where the input is", () => {
    const credit = minForm(gpu.upload(ragged([[1]], "float32")));
    expectTypeOf(credit).toExtend<MinFormCredit<DeviceTensor<"float32">>>();
    expectTypeOf(credit.outcomes).toEqualTypeOf<DeviceTensor<"float32">>();
    const logits = gpu.upload({ type: "bfloat16", data: new Uint16Array(2), dims: [1, 2] });
    expectTypeOf(tokenLogProbs(logits, targets)).resolves.toEqualTypeOf<DeviceLogProbs<"bfloat16">>();
    expectTypeOf<DeviceLogProbs<"bfloat16">["logProbs"]>().toEqualTypeOf<DeviceTensor<"float32">>();
  });

  it("mixed placement and integers are errors of type", () => {
    const host = ragged([[1]]);
    // @ts-expect-error one on the host, one on the device
    minFormBackward(host, { rewards: gpu.upload(host) });
    // @ts-expect-error token ids are not rewards
    minForm(gpu.upload(ragged([[1]], "int32")));
  });
});
