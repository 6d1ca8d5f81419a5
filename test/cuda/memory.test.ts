// Tensors on the device: copies, disposal, memory, streams.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, expect, it } from "vitest";
import {
  cuda,
  type DeviceTensor,
  type Gpu,
  minForm,
  ragged,
  returns,
  tokenLogProbs,
} from "../../lib/index.ts";
import { errorCode } from "../support/compare.ts";
import { describeEmulated } from "./emulated.ts";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

describeEmulated("device tensors", () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await cuda();
  });

  it("is opened once, and says what it is", async () => {
    expect(await cuda()).toBe(gpu);
    expect(gpu.computeCapability[0]).toBeGreaterThanOrEqual(7);
    expect(gpu.multiprocessors).toBeGreaterThan(0);
    expect(gpu.totalBytes).toBeGreaterThan(0);
  });

  it.each([
    ["float32", Float32Array.of(1.5, -0, Number.NaN)],
    ["float64", Float64Array.of(1e300, Number.NEGATIVE_INFINITY)],
    ["int32", Int32Array.of(-1, 2 ** 31 - 1)],
    ["uint8", Uint8Array.of(0, 1, 255)],
    ["float32", new Float32Array(0)],
  ])("%s comes back as it went: %s", async (type, values) => {
    const tensor = gpu.upload(values as Float32Array);
    expect(tensor.type).toBe(type);
    expect(tensor.dims).toEqual([values.length]);
    expect(await tensor.download()).toEqual(values);
  });

  it("takes tensors of 16 bits with their shape", async () => {
    const data = Uint16Array.of(0x3f80, 0x4000, 0xff80, 0, 1, 2);
    const tensor = gpu.upload({ type: "bfloat16", data, dims: [2, 3] });
    expect(tensor.dims).toEqual([2, 3]);
    expect(await tensor.download()).toEqual(data);
    expect(String(tensor)).toBe("DeviceTensor<bfloat16>[2, 3]");
  });

  it("uploads what the array holds at the call, and downloads what the tensor holds at the call", async () => {
    const values = Float64Array.of(1, 2, 3);
    const tensor = gpu.upload(values);
    values.fill(9);
    const before = tensor.download();
    returns({ data: gpu.upload(Float64Array.of(5, 5, 5)), offsets: Int32Array.of(0, 3) }, { out: tensor });
    const after = tensor.download();
    tensor.dispose();
    expect(await before).toEqual(Float64Array.of(1, 2, 3));
    expect(await after).toEqual(Float64Array.of(15, 10, 5));
  });

  it.each([
    ["a plain array", [1, 2]],
    ["16 bits without a type", new Uint16Array(2)],
    ["nothing", null],
    ["a ragged array of plain numbers", { data: [1], offsets: Int32Array.of(0, 1) }],
  ])("refuses %s", (_, values) => {
    expect(errorCode(() => gpu.upload(values as never))).toBe("ERR_ARGUMENT_TYPE");
  });

  it("refuses offsets and dims that do not fit", () => {
    expect(errorCode(() => gpu.upload({ data: new Float32Array(2), offsets: Int32Array.of(0, 3) }))).toBe(
      "ERR_SHAPE",
    );
    expect(
      errorCode(() => gpu.upload({ type: "float32", data: new Float32Array(5), dims: [2, 3] } as never)),
    ).toBe("ERR_SHAPE");
    expect(errorCode(() => gpu.zeros("float32", [2, -1]))).toBe("ERR_ARGUMENT_VALUE");
    expect(errorCode(() => gpu.zeros("int4" as never, [2]))).toBe("ERR_ARGUMENT_VALUE");
  });

  it("a disposed tensor is a typed error wherever it is used; disposing again is harmless", async () => {
    const tensor = gpu.upload(Float64Array.of(1, 2));
    tensor.dispose();
    tensor.dispose();
    expect(tensor.disposed).toBe(true);
    const closed = expect.objectContaining({ code: "ERR_CLOSED" });
    await expect(tensor.download()).rejects.toThrow(closed);
    expect(errorCode(() => minForm({ data: tensor, offsets: Int32Array.of(0, 2) }))).toBe("ERR_CLOSED");
    const logits = gpu.zeros("float32", [1, 2]);
    logits.dispose();
    await expect(tokenLogProbs(logits, Int32Array.of(0))).rejects.toThrow(closed);
  });

  it("`using` gives the memory back", () => {
    let inside: DeviceTensor;
    {
      using tensor = gpu.zeros("float32", [1000]);
      inside = tensor;
    }
    expect(inside.disposed).toBe(true);
  });

  it("counts memory, its peak, and nothing once everything is collected", async () => {
    await settle();
    gpu.resetPeak();
    const before = gpu.memory();
    const tensor = gpu.zeros("float64", [1000]);
    expect(gpu.memory().inUse).toBe(before.inUse + 8000);
    tensor.dispose();
    expect(gpu.memory().inUse).toBe(before.inUse);
    expect(gpu.memory().peak).toBe(before.inUse + 8000);
    gpu.resetPeak();
    expect(gpu.memory().peak).toBe(before.inUse);

    await (async () => {
      for (let round = 0; round < 50; round++) minForm(gpu.upload(ragged([[1, 2, 3], [round]])));
      await gpu.synchronize();
    })();
    expect(gpu.memory().inUse).toBeGreaterThan(before.inUse);
    await settle();
    expect(gpu.memory().inUse).toBe(0);
    gpu.trim();
  });

  it("tensors of two streams meet in one call", async () => {
    const other = gpu.stream();
    const rewards = gpu.upload(ragged([[1, 2, 3]]));
    const out = other.zeros("float64", [3]);
    returns(rewards, { out });
    expect(await out.download()).toEqual(Float64Array.of(6, 5, 3));
    await other.synchronize();
  });
});

// Collects what is unreachable and lets the finalisers run.
async function settle(): Promise<void> {
  for (let round = 0; round < 5; round++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
