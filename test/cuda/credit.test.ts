// Credit on device tensors gives what it gives on the host, within the bound of the family.
import { beforeAll, expect, it } from "vitest";
import {
  cuda,
  gammaDecay,
  type Gpu,
  mean,
  minForm,
  minFormBackward,
  placeSteps,
  product,
  type Ragged,
  ragged,
  returns,
  strictMinForm,
  sum,
  type Values,
} from "../../lib/index.ts";
import { describeEmulated } from "./emulated.ts";
import { hostOf, normRatio } from "./support.ts";

type Rewards = Ragged<Values>;

const rows = [[0.9, -0.2, 0.5, 0.5], [], [0.1], [-1, 1, -1, 0.25, 0.75, 1e-3], [3, 2, 1]];
const stepEnds = ragged([[1, 4, 5, 9], [], [0], [0, 1, 2, 3, 6, 7], [2, 3, 4]], "int32");
const offsets = Int32Array.of(0, 11, 11, 14, 22, 27);
const mask = Uint8Array.of(1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0);

describeEmulated("credit on the device", () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await cuda();
  });

  const forms: Record<string, (rewards: Rewards) => unknown> = {
    minForm: (rewards) => minForm(rewards, { mask, temperature: 0.3 }),
    "minForm without a mask": (rewards) => minForm(rewards),
    strictMinForm: (rewards) => strictMinForm(rewards, { mask }),
    "gammaDecay by step": (rewards) => gammaDecay(rewards, { gamma: 0.9, mask }),
    "gammaDecay by token": (rewards) => gammaDecay(rewards, { gamma: 0.9, by: "token", stepEnds }),
    sum: (rewards) => sum(rewards, { mask }),
    mean: (rewards) => mean(rewards, { mask }),
    product: (rewards) => product(rewards, { mask }),
    returns: (rewards) => returns(rewards, { gamma: 0.95, mask }),
    "placeSteps at ends": (rewards) => placeSteps(rewards, stepEnds, offsets),
    "placeSteps on spans, separators zeroed": (rewards) =>
      placeSteps(rewards, stepEnds, offsets, { place: "span", separators: "zero" }),
    minFormBackward: (rewards) => {
      const { weights, returns: upstream, outcomes } = minForm(rewards, { mask });
      return minFormBackward(rewards, { rewards: weights, returns: upstream, outcomes } as never, { mask });
    },
  };

  it.each(
    Object.keys(forms).flatMap((form) => [
      { form, type: "float32" as const, bound: 1e-7 },
      { form, type: "float64" as const, bound: 1e-14 },
    ]),
  )("$form, $type", async ({ form, type, bound }) => {
    const rewards = ragged(rows, type);
    const expected = await hostOf(forms[form]!(rewards as Rewards));
    const actual = await hostOf(forms[form]!(gpu.upload(rewards) as Rewards));
    expect(Object.keys(actual)).toEqual(Object.keys(expected));
    for (const [name, values] of Object.entries(expected)) {
      expect(actual[name]!.constructor, name).toBe(values.constructor);
      expect(normRatio(actual[name]!, values), name).toBeLessThanOrEqual(bound);
    }
  });

  it("keeps the offsets of its input, and takes a mask that is on the device", async () => {
    const rewards = gpu.upload(ragged(rows));
    const credit = minForm(rewards, { mask: gpu.upload(mask) });
    expect(credit.rewards.offsets).toBe(rewards.offsets);
    const expected = minForm(ragged(rows), { mask });
    expect(normRatio(await credit.outcomes.download(), expected.outcomes)).toBeLessThanOrEqual(1e-14);
  });

  it("writes into `out`", async () => {
    const rewards = gpu.upload(ragged(rows));
    const out = gpu.zeros("float64", [14]);
    const result = returns(rewards, { out });
    expect(result.data).toBe(out);
    expect(normRatio(await out.download(), returns(ragged(rows)).data)).toBeLessThanOrEqual(1e-14);
  });

  it("offsets that change between calls are those of the call", async () => {
    const data = gpu.upload(Float64Array.of(1, 2, 3, 4));
    const moving = Int32Array.of(0, 1, 4);
    const first = returns({ data, offsets: moving });
    moving[1] = 3;
    const second = returns({ data, offsets: moving });
    expect(await first.data.download()).toEqual(Float64Array.of(1, 9, 7, 4));
    expect(await second.data.download()).toEqual(Float64Array.of(6, 5, 3, 4));
  });
});
