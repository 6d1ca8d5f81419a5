import { afterEach, describe, expect, it } from "vitest";
import { createReward, type RewardFunction, type RewardOptions } from "../../lib/verify/index.ts";
import { rejection } from "../support/errors.ts";

const open: RewardFunction[] = [];
function rewardWith(options: RewardOptions): RewardFunction {
  const reward = createReward({ workers: 1, ...options });
  open.push(reward);
  return reward;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((reward) => reward.close()));
});

const items = [
  { response: "<think>a</think>\\boxed{\\frac12}", reference: "0.5" },
  { response: "\\boxed{3}", reference: "0.5" },
  { response: "it is 0.5", reference: "0.5" },
  { response: "\\boxed{1}", reference: "null" },
  { response: "\\boxed{1}", reference: null },
  { response: "\\boxed{1}", reference: "\\frac{1}{" },
];
const values = async (options: RewardOptions): Promise<number[]> =>
  (await rewardWith(options).score(items)).map(({ value }) => value);

describe("createReward", () => {
  it("codes right and wrong as 1 and 0, or as 0 and -1", async () => {
    expect(await values({})).toEqual([1, 0, 0, Number.NaN, Number.NaN, Number.NaN]);
    expect(await values({ coding: "minus-one-zero" })).toEqual([
      0,
      -1,
      -1,
      Number.NaN,
      Number.NaN,
      Number.NaN,
    ]);
  });

  it("counts prompts without a known answer as solved where one asks for it, as PURE does", async () => {
    expect(await values({ coding: "minus-one-zero", unscorable: "solved" })).toEqual([0, -1, -1, 0, 0, 0]);
  });

  it("reports the form, and charges for it", async () => {
    const rewards = await rewardWith({ format: ["boxed", "think"], formatPenalty: 0.25 }).score(
      items.slice(0, 3),
    );
    expect(rewards.map(({ violations }) => violations)).toEqual([[], ["think"], ["boxed", "think"]]);
    expect(rewards.map(({ value }) => value)).toEqual([1, -0.25, -0.5]);
  });

  it("asks a grader of one's own, and survives it", async () => {
    const custom = (pair: object) => {
      if ("response" in pair && String(pair.response).includes("3")) throw new Error("oops");
      return { status: "equal" } as const;
    };
    const rewards = await rewardWith({ custom }).score(items.slice(0, 3));
    expect(rewards.map(({ value }) => value)).toEqual([1, 0, 1]);
    expect(rewards[1]!.verdict).toEqual({ status: "unparsed", detail: "oops" });
  });

  it("takes a signal", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    expect((await rejection(() => rewardWith({}).score(items, { signal }))).message).toBe("enough");
  });

  it.each<[string, RewardOptions]>([
    ["coding", { coding: "binary" as never }],
    ["unscorable", { unscorable: "zero" as never }],
    ["format", { format: ["bold" as never] }],
    ["formatPenalty", { formatPenalty: -1 }],
  ])("names a bad option: %s", (name, options) => {
    expect(() => createReward(options)).toThrow(name);
  });
});
