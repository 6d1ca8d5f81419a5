// Losses on device tensors give what they give on the host, within the bound of the family.
import { beforeAll, expect, it } from "vitest";
import {
  cispoLoss,
  cuda,
  type DeviceTensor,
  type DeviceValue,
  entropyBonus,
  gmpoLoss,
  type Gpu,
  gspoLoss,
  importanceWeights,
  klPenalty,
  ppoLoss,
  type Ragged,
  ragged,
  reinforceLoss,
  sapoLoss,
  valueLoss,
} from "../../lib/index.ts";
import { describeEmulated } from "./emulated.ts";
import { hostOf, normRatio } from "./support.ts";

type Loss = Ragged<Float64Array>;
const lengths = [7, 0, 1, 70, 3];
const of = (seed: number, scale: number, type: "float32" | "float64") =>
  ragged(
    lengths.map((length, row) =>
      Array.from({ length }, (_, t) => scale * Math.sin(seed + 3.1 * row + 1.7 * t) - scale),
    ),
    type,
  ) as Loss;
const mask = Uint8Array.from({ length: 81 }, (_, i) => (i % 5 === 3 ? 0 : 1));
const perRow = Float64Array.of(1, -1, 0.5, -0.25, 2);

describeEmulated("losses on the device", () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await cuda();
  });

  // Called with the batch on the host and on the device; the types of one stand for both.
  const losses: Record<string, (place: (values: never) => never, type: "float32" | "float64") => unknown> =
    {};
  const add = (
    name: string,
    loss: (batch: { a: Loss; b: Loss; c: Loss; w: Loss; row: Float64Array }) => unknown,
  ) => {
    losses[name] = (place, type) =>
      loss({
        a: place(of(1, 0.8, type) as never),
        b: place(of(2, 0.9, type) as never),
        c: place(of(3, 1, type) as never),
        w: place(of(4, 0.5, type) as never),
        row: place((type === "float64" ? perRow : Float32Array.from(perRow)) as never),
      });
  };
  add("ppo", ({ a, b, c, w }) =>
    ppoLoss({ logProbs: a, oldLogProbs: b, advantages: c, importanceWeights: w, mask }, { dualClip: 3 }),
  );
  add("ppo per response, prompt means", ({ a, b, row }) =>
    ppoLoss(
      { logProbs: a, oldLogProbs: b, advantages: row },
      { aggregation: "prompt-mean", groups: ["x", "x", "y", "y", "x"] },
    ),
  );
  add("ppo, given prompt tokens", ({ a, b, c }) =>
    ppoLoss(
      { logProbs: a, oldLogProbs: b, advantages: c, mask },
      { aggregation: "prompt-mean", promptTokens: [90, 90, 90, 90, 90], denominator: 3 },
    ),
  );
  add("gspo", ({ a, b, c }) => gspoLoss({ logProbs: a, oldLogProbs: b, advantages: c, mask }));
  add("gmpo", ({ a, b, c }) => gmpoLoss({ logProbs: a, oldLogProbs: b, advantages: c, mask }));
  add("cispo", ({ a, b, c }) => cispoLoss({ logProbs: a, oldLogProbs: b, advantages: c, mask }));
  add("sapo", ({ a, b, c }) => sapoLoss({ logProbs: a, oldLogProbs: b, advantages: c, mask }));
  add("reinforce", ({ a, c }) => reinforceLoss({ logProbs: a, advantages: c, mask }));
  add("kl", ({ a, b, c }) =>
    klPenalty({ logProbs: a, refLogProbs: b, oldLogProbs: c, mask }, { gradient: "importance" }),
  );
  add("value", ({ a, b, c }) => valueLoss({ values: a, oldValues: b, returns: c, mask }, { clipRange: 0.2 }));
  add("entropy", ({ a }) => entropyBonus({ entropy: a, mask }));
  add("importance", ({ a, b }) =>
    importanceWeights(
      { oldLogProbs: a, rolloutLogProbs: b, mask },
      { correction: "mask", level: "sequence-mean", max: 1.1, normalize: true },
    ),
  );

  it.each(
    Object.keys(losses).flatMap((name) => [
      { name, type: "float32" as const, bound: 1e-7 },
      { name, type: "float64" as const, bound: 1e-12 },
    ]),
  )("$name, $type", async ({ name, type, bound }) => {
    const onHost = losses[name]!((values) => values, type) as Record<string, unknown>;
    const onDevice = losses[name]!((values) => gpu.upload(values) as never, type) as Record<string, unknown>;
    expect(Object.keys(onDevice).sort()).toEqual(Object.keys(onHost).sort());
    const [expected, actual] = [await hostOf(onHost), await hostOf(onDevice)];
    for (const [path, values] of Object.entries(expected))
      expect(normRatio(actual[path]!, values), path).toBeLessThanOrEqual(bound);
    for (const key of ["loss", "sum", "count", "stats"].filter((scalar) => scalar in onHost)) {
      const [want, got] = [onHost[key], await (onDevice[key] as DeviceValue<unknown>).download()];
      const numbers = (value: unknown) =>
        Float64Array.from(Object.values({ ...Object(value), value: Number(value) || 0 }));
      expect(normRatio(numbers(got), numbers(want)), key).toBeLessThanOrEqual(1e-7);
    }
    if ("kept" in onHost) expect(await (onDevice.kept as DeviceTensor).download()).toEqual(onHost.kept);
  });

  it("bad values are named: a log-prob, an advantage per response, prompt tokens", async () => {
    const batch = () => ({
      logProbs: of(1, 1, "float64"),
      oldLogProbs: of(2, 1, "float64"),
      advantages: perRow.slice(),
    });
    const placed = ({ logProbs, oldLogProbs, advantages }: ReturnType<typeof batch>) => ({
      logProbs: gpu.upload(logProbs),
      oldLogProbs: gpu.upload(oldLogProbs),
      advantages: gpu.upload(advantages),
    });
    const nan = batch();
    nan.oldLogProbs.data[9] = Number.NaN;
    ppoLoss(placed(nan));
    await expect(gpu.synchronize()).rejects.toThrow(/^ppoLoss: oldLogProbs: .*row 3, position 1, got NaN/);
    const row = batch();
    row.advantages[3] = Number.POSITIVE_INFINITY;
    const { loss } = ppoLoss(placed(row));
    await expect(loss.download()).rejects.toThrow(/^ppoLoss: advantages: .*row 3, got Infinity/);
    gspoLoss(placed(batch()), { aggregation: "prompt-mean", promptTokens: [90, 90, 90, 9, 90] });
    await expect(gpu.synchronize()).rejects.toThrow(/^gspoLoss: promptTokens\[3\]: .*got 9/);
  });

  it("mixed placement is named", () => {
    const [a, b] = [of(1, 1, "float64"), of(2, 1, "float64")];
    expect(() => ppoLoss({ logProbs: gpu.upload(a) as never, oldLogProbs: b, advantages: b })).toThrow(
      /^oldLogProbs.data: expected memory on the device as logProbs.data is/,
    );
    expect(() => ppoLoss({ logProbs: a, oldLogProbs: b, advantages: gpu.upload(perRow) as never })).toThrow(
      /^advantages: expected memory on the host as logProbs.data is/,
    );
  });
});
