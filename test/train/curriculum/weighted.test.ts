import { describe, expect, test } from "vitest";
import { informative, PassRateSampler } from "../../../lib/train/curriculum/index.ts";
import { drawIds, promptRows, refusal } from "./support.ts";

// How often each prompt comes in draws of one.
function shares(sampler: PassRateSampler, draws: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i < draws; i++) {
    const [id] = drawIds(sampler, 1);
    counts.set(id!, (counts.get(id!) ?? 0) + 1);
  }
  return new Map([...counts].map(([id, count]) => [id, count / draws]));
}

describe("by pass rate", () => {
  test("prompts come in proportion to their weights", () => {
    const sampler = new PassRateSampler(promptRows(3), { seed: 1, target: 0.5, width: 0.25, floor: 0.1 });
    sampler.report("p0", 4, 8);
    sampler.report("p1", 2, 8);
    sampler.report("p2", 8, 8);
    // Weights: 1, exp(-1/2), exp(-2) = .135.
    const weights = [1, Math.exp(-0.5), Math.exp(-2)];
    const total = weights.reduce((sum, one) => sum + one);
    const draws = 4000;
    const found = shares(sampler, draws);
    for (const [i, weight] of weights.entries()) {
      const share = weight / total;
      const error = Math.sqrt((share * (1 - share)) / draws);
      expect(Math.abs(found.get(`p${i}`)! - share)).toBeLessThan(4 * error);
    }
  });

  test("untried prompts count fully, solved ones fall to the floor", () => {
    const sampler = new PassRateSampler(promptRows(2), { width: 0.01, floor: 0.01 });
    sampler.report("p0", 8, 8);
    expect(shares(sampler, 500).get("p1")).toBeGreaterThan(0.95);
  });

  test("the rate follows the newest groups", () => {
    const sampler = new PassRateSampler(promptRows(2), { width: 0.1, floor: 0.001, memory: 0.5 });
    sampler.report("p1", 4, 8);
    for (let i = 0; i < 12; i++) sampler.report("p0", 0, 8);
    expect(shares(sampler, 500).get("p0") ?? 0).toBeLessThan(0.05);
    for (let i = 0; i < 12; i++) sampler.report("p0", 4, 8);
    expect(shares(sampler, 500).get("p0")).toBeGreaterThan(0.35);
  });

  test("a draw holds no prompt twice, whatever the weights", () => {
    const sampler = new PassRateSampler(promptRows(6), { floor: 1e-6 });
    for (let i = 0; i < 5; i++) sampler.report(`p${i}`, 0, 4);
    expect(new Set(drawIds(sampler, 6)).size).toBe(6);
    expect(drawIds(sampler, 50)).toHaveLength(6);
  });

  test("a restored sampler goes on as one that was never stopped", () => {
    const run = (sampler: PassRateSampler, from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => {
        const drawn = drawIds(sampler, 4);
        for (const [k, id] of drawn.entries()) sampler.report(id, ((from + i) * 7 + k) % 5, 4);
        return drawn;
      });
    const rows = promptRows(15);
    const whole = run(new PassRateSampler(rows, { seed: 9 }), 0, 30);
    const first = new PassRateSampler(rows, { seed: 9 });
    run(first, 0, 11);
    const second = new PassRateSampler(rows, { seed: 9 });
    second.restore(JSON.parse(JSON.stringify(first.state())));
    expect(run(second, 11, 30)).toEqual(whole.slice(11));
  });

  test("bad options", () => {
    expect(refusal(() => new PassRateSampler(promptRows(1), { width: 0 }))).toBe(
      "width: expected a number in (0, Infinity), got 0",
    );
  });
});

describe("groups that teach", () => {
  test("all right and all wrong teach nothing; one difference does", () => {
    const groups = ["a", "b", "c", "a", "b", "c"];
    expect([...informative([1, 0, 1, 1, 0, 0], groups)]).toEqual([0, 0, 1, 0, 0, 1]);
  });

  test("a group of one teaches nothing", () => {
    expect([...informative([1], [7])]).toEqual([0]);
  });

  test("lengths must fit", () => {
    expect(refusal(() => informative([1, 2], [1]))).toBe("groups: expected one id per response (2), got 1");
  });
});
