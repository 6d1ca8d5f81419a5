import { describe, expect, it } from "vitest";
import {
  linearLogProbs,
  linearLogProbsBackward,
  type LogProbs,
  MinformError,
  tokenLogProbs,
  tokenLogProbsBackward,
} from "../../lib/index.ts";
import { rowTensor, tensor } from "./support.ts";

const logits = tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]);
const targets = Int32Array.of(0, 2);
const head = {
  hidden: tensor("float32", [2, 2], [1, 2, 3, 4]),
  weight: tensor("float32", [3, 2], [1, 2, 3, 4, 5, 6]),
};
const ones = { gradLogProbs: Float32Array.of(1, 1) };
const forward = await tokenLogProbs(logits, targets);
const linearForward = await linearLogProbs(head, targets);

async function failure(call: () => Promise<unknown>): Promise<MinformError> {
  const error = await call().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MinformError);
  return error as MinformError;
}

const detached = new Float32Array(6);
structuredClone(detached.buffer, { transfer: [detached.buffer] });
const resizable = new (ArrayBuffer as unknown as new (size: number, options: object) => ArrayBuffer)(24, {
  maxByteLength: 48,
});

describe("logprob: bad logits and targets", () => {
  it.each([
    ["no tensor", () => tokenLogProbs(null as never, targets), "ERR_ARGUMENT_TYPE"],
    ["an array as tensor", () => tokenLogProbs(new Float32Array(6) as never, targets), "ERR_ARGUMENT_TYPE"],
    [
      "an integer type",
      () => tokenLogProbs({ type: "int32", data: new Int32Array(6), dims: [2, 3] } as never, targets),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "data of another type",
      () => tokenLogProbs({ type: "float16", data: new Float32Array(6), dims: [2, 3] } as never, targets),
      "ERR_ARGUMENT_TYPE",
    ],
    ["no dims", () => tokenLogProbs({ ...logits, dims: undefined as never }, targets), "ERR_SHAPE"],
    ["three dims", () => tokenLogProbs({ ...logits, dims: [1, 2, 3] }, targets), "ERR_SHAPE"],
    ["dims of another product", () => tokenLogProbs({ ...logits, dims: [2, 4] }, targets), "ERR_SHAPE"],
    ["zero rows", () => tokenLogProbs(tensor("float32", [0, 3], []), new Int32Array(0)), "ERR_SHAPE"],
    ["an empty vocabulary", () => tokenLogProbs(tensor("float32", [2, 0], []), targets), "ERR_SHAPE"],
    ["a negative extent", () => tokenLogProbs({ ...logits, dims: [-2, -3] }, targets), "ERR_SHAPE"],
    ["half an extent", () => tokenLogProbs({ ...logits, dims: [1.5, 4] }, targets), "ERR_SHAPE"],
    ["an absurd extent", () => tokenLogProbs({ ...logits, dims: [2 ** 31, 2 ** 31] }, targets), "ERR_SHAPE"],
    ["a target too many", () => tokenLogProbs(logits, new Int32Array(3)), "ERR_SHAPE"],
    ["targets as numbers", () => tokenLogProbs(logits, [0, 1] as never), "ERR_ARGUMENT_TYPE"],
    ["targets as int64", () => tokenLogProbs(logits, new BigInt64Array(2) as never), "ERR_ARGUMENT_TYPE"],
    ["a target past the end", () => tokenLogProbs(logits, Int32Array.of(0, 3)), "ERR_ARGUMENT_VALUE"],
    ["a negative target", () => tokenLogProbs(logits, Int32Array.of(-1, 0)), "ERR_ARGUMENT_VALUE"],
    ["temperature 0", () => tokenLogProbs(logits, targets, { temperature: 0 }), "ERR_ARGUMENT_VALUE"],
    [
      "temperature NaN",
      () => tokenLogProbs(logits, targets, { temperature: Number.NaN }),
      "ERR_ARGUMENT_VALUE",
    ],
    ["temperature 1e9", () => tokenLogProbs(logits, targets, { temperature: 1e9 }), "ERR_ARGUMENT_VALUE"],
    [
      "entropy as a word",
      () => tokenLogProbs(logits, targets, { entropy: "no" as never }),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "a signal that is none",
      () => tokenLogProbs(logits, targets, { signal: {} as never }),
      "ERR_ARGUMENT_TYPE",
    ],
    ["detached memory", () => tokenLogProbs({ ...logits, data: detached }, targets), "ERR_ARGUMENT_TYPE"],
    [
      "shared memory",
      () => tokenLogProbs({ ...logits, data: new Float32Array(new SharedArrayBuffer(24)) }, targets),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "memory that may shrink",
      () => tokenLogProbs({ ...logits, data: new Float32Array(resizable) }, targets),
      "ERR_ARGUMENT_TYPE",
    ],
    [
      "NaN",
      () => tokenLogProbs(tensor("float32", [2, 3], [1, 2, 3, 4, Number.NaN, 6]), targets),
      "ERR_NOT_FINITE",
    ],
  ])("%s", async (_, call, code) => {
    expect((await failure(call)).code).toBe(code);
  });

  it.each(["float32", "float64", "bfloat16", "float16"] as const)(
    "%s: names the row of a NaN, an infinity and of nothing at all",
    async (type) => {
      const call = (values: number[]) => () =>
        tokenLogProbs(tensor(type, [3, 2], values), new Int32Array(3)) as Promise<unknown>;
      const none = Number.NEGATIVE_INFINITY;
      const at1 = /^logits: .* at row 1, got /;
      const nan = tensor(type, [3, 2], [0, 0, 0, 0, 0, 0]);
      nan.data[3] = { float32: Number.NaN, float64: Number.NaN, bfloat16: 0x7fc0, float16: 0x7e00 }[type];
      const messages = [
        await failure(() => tokenLogProbs(nan as typeof logits, new Int32Array(3))),
        await failure(call([0, 0, Number.POSITIVE_INFINITY, none, 0, 0])),
        await failure(call([0, 0, none, none, none, none])),
      ].map((error) => error.message);
      for (const message of messages) expect(message).toMatch(at1);
      expect(messages[0]).toMatch(/NaN at position 1$/);
      expect(messages[1]).toMatch(/Infinity at position 0$/);
      expect(messages[2]).toMatch(/only -Infinity$/);
    },
  );

  it("a NaN among -Infinity only is found, wherever it stands", async () => {
    for (const at of [0, 1, 500, 1023, 1024, 40_000]) {
      const values = new Array(40_001).fill(Number.NEGATIVE_INFINITY);
      values[at] = Number.NaN;
      const error = await failure(() => tokenLogProbs(rowTensor("float32", values), Int32Array.of(0)));
      expect(error.message).toContain(`NaN at position ${at}`);
    }
  });
});

describe("logprob: bad gradients", () => {
  const back = (upstream: object, from: object = forward, options: object = {}) =>
    tokenLogProbsBackward(logits, targets, from as LogProbs<"float32">, upstream as typeof ones, options);
  const withEntropy = { ...ones, gradEntropy: Float32Array.of(1, 1) };

  it.each([
    ["none at all", () => back({}), "ERR_ARGUMENT_TYPE"],
    ["of another dtype", () => back({ gradLogProbs: new Float64Array(2) }), "ERR_ARGUMENT_TYPE"],
    ["too few", () => back({ gradLogProbs: new Float32Array(1) }), "ERR_SHAPE"],
    ["without logSumExp", () => back(ones, {}), "ERR_ARGUMENT_TYPE"],
    ["no forward result", () => back(ones, null as never), "ERR_ARGUMENT_TYPE"],
    [
      "gradEntropy without the entropy",
      () => back(withEntropy, { logSumExp: forward.logSumExp }),
      "ERR_ARGUMENT_VALUE",
    ],
    ["NaN", () => back({ gradLogProbs: Float32Array.of(1, Number.NaN) }), "ERR_NOT_FINITE"],
    [
      "an infinite entropy gradient",
      () => back({ ...ones, gradEntropy: Float32Array.of(0, Number.POSITIVE_INFINITY) }),
      "ERR_NOT_FINITE",
    ],
    ["a logSumExp of NaN", () => back(ones, { logSumExp: Float64Array.of(Number.NaN, 1) }), "ERR_NOT_FINITE"],
    ["a logSumExp of other logits", () => back(ones, { logSumExp: Float64Array.of(3, 6) }), "ERR_NOT_FINITE"],
    ["another temperature", () => back(ones, forward, { temperature: 0.5 }), "ERR_NOT_FINITE"],
    ["an out too short", () => back(ones, forward, { out: new Float32Array(5) }), "ERR_SHAPE"],
    ["an out of another dtype", () => back(ones, forward, { out: new Float64Array(6) }), "ERR_ARGUMENT_TYPE"],
  ])("%s", async (_, call, code) => {
    expect((await failure(call)).code).toBe(code);
  });

  it("an out that overlaps the logits, other than exactly", async () => {
    const memory = new Float32Array(8);
    memory.set(logits.data, 0);
    const shared = { ...logits, data: memory.subarray(0, 6) };
    const call = () => tokenLogProbsBackward(shared, targets, forward, ones, { out: memory.subarray(2, 8) });
    expect((await failure(call)).code).toBe("ERR_ARGUMENT_VALUE");
  });

  it("names what is wrong and where", async () => {
    const grads = { gradLogProbs: Float32Array.of(1, Number.NaN) };
    expect((await failure(() => back(grads))).message).toBe(
      "gradients.gradLogProbs: expected a finite number at row 1, got NaN",
    );
    const wrong = await failure(() => back(ones, { logSumExp: Float64Array.of(forward.logSumExp[0]!, 9) }));
    expect(wrong.message).toMatch(/^forward.logSumExp: .* at row 1, got 9/);
  });
});

describe("logprob: bad heads", () => {
  const call = (change: object) => () => linearLogProbs({ ...head, ...change }, targets);

  it.each([
    ["no head", () => linearLogProbs(null as never, targets), "ERR_ARGUMENT_TYPE"],
    ["no weight", call({ weight: undefined }), "ERR_ARGUMENT_TYPE"],
    [
      "a weight of another width",
      call({ weight: tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]) }),
      "ERR_SHAPE",
    ],
    ["a bias of another length", call({ bias: tensor("float32", [2], [1, 2]) }), "ERR_SHAPE"],
    ["a bias with two dims", call({ bias: tensor("float32", [3, 1], [1, 2, 3]) }), "ERR_SHAPE"],
    [
      "float64 beside float32",
      call({ hidden: tensor("float64", [2, 2], [1, 2, 3, 4]) }),
      "ERR_ARGUMENT_TYPE",
    ],
    ["a float64 bias", call({ bias: tensor("float64", [3], [1, 2, 3]) }), "ERR_ARGUMENT_TYPE"],
    ["a target outside", () => linearLogProbs(head, Int32Array.of(0, 3)), "ERR_ARGUMENT_VALUE"],
    ["NaN in hidden", call({ hidden: tensor("float32", [2, 2], [1, 2, Number.NaN, 4]) }), "ERR_NOT_FINITE"],
    [
      "NaN in weight",
      call({ weight: tensor("float32", [3, 2], [1, 2, 3, Number.NaN, 5, 6]) }),
      "ERR_NOT_FINITE",
    ],
    [
      "an infinite bias",
      call({ bias: tensor("float32", [3], [0, Number.POSITIVE_INFINITY, 0]) }),
      "ERR_NOT_FINITE",
    ],
    [
      "a gradWeight of another length",
      () =>
        linearLogProbsBackward(head, targets, linearForward, ones, {
          out: { gradWeight: new Float32Array(2) },
        }),
      "ERR_SHAPE",
    ],
    [
      "a logSumExp of other states",
      () => linearLogProbsBackward(head, targets, { logSumExp: Float64Array.of(1, 1) }, ones),
      "ERR_NOT_FINITE",
    ],
  ])("%s", async (_, run, code) => {
    expect((await failure(run)).code).toBe(code);
  });

  it("names the row of hidden", async () => {
    const bad = await failure(call({ hidden: tensor("float32", [2, 2], [1, 2, 3, Number.NaN]) }));
    expect(bad.message).toBe("hidden: expected finite numbers at row 1, got NaN at position 1");
  });
});
