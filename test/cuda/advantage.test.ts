// Advantages on device tensors give what they give on the host, within the bound of the family.
import { beforeAll, expect, it } from "vitest";
import {
  combineAdvantages,
  combineRewards,
  cuda,
  type DeviceValue,
  gae,
  type Gpu,
  grpo,
  grpoPassK,
  klReward,
  opo,
  optimalTokenBaseline,
  type Ragged,
  ragged,
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  remax,
  rloo,
  whiten,
} from "../../lib/index.ts";
import { describeEmulated } from "./emulated.ts";
import { hostOf, normRatio } from "./support.ts";

type Tokens = Ragged<Float64Array>;
const lengths = [6, 0, 1, 40, 3, 9];
const groups = ["a", "b", "a", "b", "c", "a"];
const of = (seed: number, type: "float32" | "float64") =>
  ragged(
    lengths.map((length, row) => Array.from({ length }, (_, t) => Math.sin(seed + 3.1 * row + 1.7 * t))),
    type,
  ) as Tokens;
const stepEnds = ragged([[1, 3, 5], [], [0], [0, 11, 25, 38], [1], [2, 8]], "int32");
const mask = Uint8Array.from({ length: 59 }, (_, i) => (i % 6 === 4 ? 0 : 1));

interface Batch {
  a: Tokens;
  b: Tokens;
  row: Float64Array;
  squares: Tokens;
}

// 0, 1 and "no answer known" per response.
const verifiable = ({ a }: Batch, place: (values: never) => never) => {
  const values = Float64Array.of(1, 0, Number.NaN, 1, 0, Number.NaN);
  const single =
    (a.data as { type?: string }).type === "float32" || (a.data as unknown) instanceof Float32Array;
  return place((single ? Float32Array.from(values) : values) as never) as Float64Array;
};

const estimators: Record<string, (batch: Batch, place: (values: never) => never) => unknown> = {
  "rloo of outcomes": ({ row }) => rloo(row, groups),
  grpo: ({ row }) => grpo(row, groups, { singleton: "raw" }),
  grpoPassK: ({ row }) => grpoPassK(row, groups),
  opo: ({ row }) => opo(row, lengths, groups),
  "rloo of tokens": ({ a, b }) =>
    rloo(a, groups, {
      mask,
      stepEnds,
      baseline: "step",
      kl: { values: b, coefficient: 0.1, placement: "after" },
    }),
  "rloo of steps": (_, place) => {
    const rewards = place(ragged([[1, 2, 3], [], [0.5], [1, -1, 2, -2], [4], [0, 1]]) as never);
    return rloo({ rewards: rewards as Tokens, stepEnds, offsets: of(1, "float64").offsets }, groups, {
      baseline: "token",
      returns: true,
    });
  },
  gae: ({ a, b, row }) => gae(a, b, { gamma: 0.99, lambda: 0.9, valueLambda: 1, mask, bootstrapValues: row }),
  "optimal baseline": ({ a, b, squares }) =>
    optimalTokenBaseline(a, { logProbs: b, sumSquaredProbs: squares, groups, mask }),
  whiten: ({ a }) => whiten(a, { mask, shiftMean: false }),
  klReward: ({ a, b }) => klReward(a, b, { coefficient: 0.3, mask }),
  combineAdvantages: ({ a, row }) => combineAdvantages({ tokens: a, responses: row, coefficient: 2, mask }),
  "combineRewards, minus one and zero, on the last token": (batch, place) => ({
    rewards: combineRewards({ process: batch.a, verifiable: verifiable(batch, place), coefficient: 2, mask }),
  }),
  "combineRewards, zero and one, on every token": (batch, place) => ({
    rewards: combineRewards({
      process: batch.a,
      verifiable: verifiable(batch, place),
      verifiableCoding: "zero-one",
      place: "every",
    }),
  }),
  remax: ({ a, row }) => remax(a, row, { mask }),
  "reinforce++": ({ a }) => reinforcePlusPlus(a, { gamma: 0.9, mask }),
  "reinforce++ with a baseline": ({ a, row }) => reinforcePlusPlusBaseline(row, groups, a.offsets, { mask }),
  "reinforce++ with a baseline, some unscorable": (batch, place) =>
    reinforcePlusPlusBaseline(verifiable(batch, place), groups, batch.a.offsets, {
      mask,
      singleton: "raw",
      unscorable: "exclude",
    }),
};

function batchOf(type: "float32" | "float64", place: (values: never) => never): Batch {
  const row = Float64Array.from(lengths, (_, i) => Math.sin(2 * i));
  const [b, squares] = [of(2, type), of(3, type)];
  b.data.forEach((value, i) => {
    b.data[i] = value - 1.5;
    squares.data[i] = 0.3 + 0.2 * squares.data[i]!;
  });
  return {
    a: place(of(1, type) as never),
    b: place(b as never),
    row: place((type === "float64" ? row : Float32Array.from(row)) as never),
    squares: place(squares as never),
  };
}

describeEmulated("advantages on the device", () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await cuda();
  });

  it.each(
    Object.keys(estimators).flatMap((name) => [
      { name, type: "float32" as const, bound: 1e-7 },
      { name, type: "float64" as const, bound: 1e-12 },
    ]),
  )("$name, $type", async ({ name, type, bound }) => {
    const run = (place: (values: never) => never) =>
      estimators[name]!(batchOf(type, place), place) as Record<string, unknown>;
    const [onHost, onDevice] = [run((values) => values), run((values) => gpu.upload(values) as never)];
    expect(Object.keys(onDevice).sort()).toEqual(Object.keys(onHost).sort());
    const [expected, actual] = [await hostOf(onHost), await hostOf(onDevice)];
    expect(Object.keys(expected).length).toBeGreaterThan(0);
    for (const [path, values] of Object.entries(expected))
      expect(normRatio(actual[path]!, values), path).toBeLessThanOrEqual(bound);
    if ("stats" in onHost)
      expect(await (onDevice.stats as DeviceValue<unknown>).download()).toEqual(onHost.stats);
  });

  it("a NaN reward is named, or left out; a singleton is an error with the statistics", async () => {
    const rewards = () => gpu.upload(Float64Array.of(1, Number.NaN, 2, 3, 4, 5));
    rloo(rewards(), groups);
    await expect(gpu.synchronize()).rejects.toThrow(/^rloo: rewards: .*row 1, got NaN/);
    const kept = rloo(rewards(), groups, { unscorable: "exclude" });
    expect(await kept.stats.download()).toMatchObject({ excluded: 1, singletons: 2 });
    const { stats } = rloo(gpu.upload(Float64Array.of(1, 2, 3, 4, 5, 6)), groups, { singleton: "error" });
    await expect(stats.download()).rejects.toThrow(/^groups: .*row 4 alone in group "c"/);
  });

  it("a verifiable reward that is none is told by the next download", async () => {
    const process = gpu.upload(ragged([[1], [2]]));
    combineRewards({ process, verifiable: gpu.upload(Float64Array.of(1, 0.5)) });
    await expect(gpu.synchronize()).rejects.toThrow(
      /^combineRewards: verifiable\[1\]: expected 0, 1 or NaN, got 0.5$/,
    );
    expect(() => combineRewards({ process, verifiable: Float64Array.of(1, 0) as never })).toThrow(
      /^verifiable: expected memory on the device as process.data is/,
    );
  });

  it("a mask on the device does what it does on the host", async () => {
    const rewards = gpu.upload(Float64Array.of(1, Number.NaN, 2, 3, 4, 5));
    const { offsets } = of(1, "float64");
    const run = (given: never) =>
      reinforcePlusPlusBaseline(rewards, groups, offsets, { mask: given, unscorable: "exclude" });
    const [a, b] = [run(mask as never), run(gpu.upload(mask) as never)];
    expect(await hostOf(a.advantages)).toEqual(await hostOf(b.advantages));
  });
});
