// What is wrong with a call on the device is said as on the host; what only the data tells, at the next download.
import { beforeAll, expect, it } from "vitest";
import {
  cuda,
  type Gpu,
  minForm,
  minFormBackward,
  NumericError,
  type Ragged,
  ragged,
  returns,
  tokenLogProbs,
  tokenLogProbsBackward,
} from "../../lib/index.ts";
import { addon } from "../../lib/load.ts";
import { errorCode } from "../support/compare.ts";
import { describeEmulated } from "./emulated.ts";

const offsets = Int32Array.of(0, 3);

function placementError(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    if (code === "ERR_PLACEMENT") return message;
    return `${code} ${message}`;
  }
  return "nothing was thrown";
}

describeEmulated("errors on the device", () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await cuda();
  });

  it("mixed placement names both arguments, whichever is on the device", () => {
    const host = ragged([[1, 2, 3]]);
    const device = gpu.upload(host);
    const mixed = (rewards: unknown, upstream: unknown) => () =>
      minFormBackward(rewards as Ragged<Float64Array>, { rewards: upstream as Ragged<Float64Array> });
    expect(placementError(mixed(host, device))).toMatch(
      /^gradients.rewards.data: expected memory on the host as stepRewards.data is, got memory on the device/,
    );
    expect(placementError(mixed(device, host))).toMatch(
      /^gradients.rewards.data: expected memory on the device as stepRewards.data is, got memory on the host/,
    );
    expect(placementError(() => returns(device, { out: new Float64Array(3) as never }))).toMatch(
      /^out: .*as rewards.data is/,
    );
    expect(placementError(() => returns(host, { out: device.data as never }))).toMatch(/^out: /);
  });

  it("mixed placement of logits, gradients and forward results", async () => {
    const logits = gpu.upload({ type: "float32", data: Float32Array.of(1, 2, 3), dims: [1, 3] });
    const targets = Int32Array.of(1);
    const forward = await tokenLogProbs(logits, targets);
    const call = (changes: object) =>
      tokenLogProbsBackward(logits, targets, { ...forward, ...changes }, {
        gradLogProbs: gpu.upload(Float32Array.of(1)),
        ...changes,
      } as never);
    await expect(call({ gradLogProbs: Float32Array.of(1) })).rejects.toThrow(
      /^gradients.gradLogProbs: expected memory on the device as logits is/,
    );
    await expect(call({ logSumExp: Float64Array.of(1) })).rejects.toThrow(/^forward.logSumExp: .*logits/);
    const onHost = { type: "float32", data: Float32Array.of(1, 2, 3), dims: [1, 3] } as const;
    await expect(tokenLogProbs(onHost, gpu.upload(targets) as never)).rejects.toThrow(/^targets: /);
  });

  it("lengths, types and offsets are checked as on the host", () => {
    const device = gpu.upload(ragged([[1, 2, 3]]));
    expect(errorCode(() => minForm({ data: device.data, offsets: Int32Array.of(0, 2) }))).toBe("ERR_SHAPE");
    expect(errorCode(() => minForm(device, { mask: new Uint8Array(2) }))).toBe("ERR_SHAPE");
    expect(errorCode(() => minForm(device, { mask: gpu.upload(new Uint8Array(2)) }))).toBe("ERR_SHAPE");
    expect(errorCode(() => returns(device, { out: gpu.zeros("float32", [3]) as never }))).toBe(
      "ERR_ARGUMENT_TYPE",
    );
    expect(errorCode(() => minForm({ data: gpu.zeros("int32", [3]) as never, offsets }))).toBe(
      "ERR_ARGUMENT_TYPE",
    );
  });

  it("a NaN is thrown by the next download, as on the host and with the function's name", async () => {
    const rewards = ragged([
      [1, 2],
      [3, Number.NaN, 5],
    ]);
    const { outcomes } = minForm(gpu.upload(rewards));
    const unrelated = gpu.upload(Float64Array.of(1));
    await expect(unrelated.download()).rejects.toThrow(
      /^minForm: stepRewards: expected a finite number at row 1, position 1, got NaN$/,
    );
    // Said once; the stream goes on.
    await outcomes.download();
    expect(await returns(gpu.upload(ragged([[1, 2]]))).data.download()).toEqual(Float64Array.of(3, 2));
  });

  it("and by synchronize; the first of several bad calls is named", async () => {
    const bad = gpu.upload(ragged([[Number.POSITIVE_INFINITY]]));
    const good = gpu.upload(ragged([[1]]));
    minForm(good);
    returns(bad);
    minForm(bad);
    const waiting = gpu.synchronize();
    await expect(waiting).rejects.toThrow(NumericError);
    await expect(waiting).rejects.toThrow(/^returns: rewards: .* row 0, position 0, got Infinity/);
    await gpu.synchronize();
  });

  it("names the argument still when its tensor is gone", async () => {
    const rewards = gpu.upload(ragged([[Number.NaN]]));
    minForm(rewards);
    rewards.data.dispose();
    await expect(gpu.synchronize()).rejects.toThrow(
      /^minForm: stepRewards: a NaN arises at row 0, position 0/,
    );
  });

  it("is read by itself after many calls", () => {
    const [bad, good] = [gpu.upload(ragged([[Number.NaN]])), gpu.upload(ragged([[1]]))];
    returns(bad);
    expect(() => {
      for (let call = 0; call < 2000; call++) returns(good);
    }).toThrow(/^returns: rewards: .*got NaN/);
  });

  it("logits without a distribution, and a target outside the vocabulary", async () => {
    const bad = gpu.upload({ type: "bfloat16", data: Uint16Array.of(0, 0, 0, 0x7fc0), dims: [2, 2] });
    await tokenLogProbs(bad, Int32Array.of(0, 1));
    await expect(gpu.synchronize()).rejects.toThrow(/^tokenLogProbs: logits: .*row 1, got NaN at position 1/);
    const logits = gpu.upload({ type: "float32", data: Float32Array.of(1, 2, 3, 4), dims: [2, 2] });
    await tokenLogProbs(logits, gpu.upload(Int32Array.of(0, 2)));
    await expect(gpu.synchronize()).rejects.toThrow(/^tokenLogProbs: targets\[1\]: .*\[0, 2\), got 2/);
    await expect(tokenLogProbs(logits, Int32Array.of(0, 2))).rejects.toThrow(/^targets\[1\]: /);
  });

  it("a logSumExp of other logits", async () => {
    const [a, b] = [Float32Array.of(1, 2), Float32Array.of(9, 9)].map((data) =>
      gpu.upload({ type: "float32", data, dims: [1, 2] }),
    );
    const forward = await tokenLogProbs(a!, Int32Array.of(0));
    await tokenLogProbsBackward(b!, Int32Array.of(0), forward, {
      gradLogProbs: gpu.upload(Float32Array.of(1)),
    });
    await expect(gpu.synchronize()).rejects.toThrow(
      /^tokenLogProbsBackward: forward.logSumExp: .*row 0, got/,
    );
  });

  it("the glue checks by itself: a device array among a host call's, offsets it does not know", () => {
    const { credit, device } = addon();
    const stream = device.createStream();
    const data = device.upload(stream, Float64Array.of(1, 2)) as never;
    expect(() => credit.returns(data, Int32Array.of(0, 2), null, 1, new Float64Array(2))).toThrow(
      /native argument 0 is not a typed array/,
    );
    const words = device.upload(stream, new BigInt64Array(1));
    const place = credit.returns as (...args: unknown[]) => unknown;
    const loose = device.upload(stream, Int32Array.of(0, 2));
    expect(() => place(data, loose, null, 1, data, words, 0)).toThrow(/argument 1 has an unknown content/);
    expect(() => place(data, Int32Array.of(0, 2), null, 1, data, words, 0)).toThrow(/1 is not on the device/);
    const known = device.uploadKnown(null, stream, Int32Array.of(0, 3));
    expect(() => place(data, known, null, 1, data, words, 0)).toThrow(/1 does not cover the data/);
    expect(() => place(data, known, null, 1, data, words, 1)).toThrow(/6 is no status word/);
  });
});
