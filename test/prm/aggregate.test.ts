import { describe, expect, it } from "vitest";
import { aggregate, type Aggregator, aggregators, stepScores, toProbability } from "../../lib/prm/index.ts";
import { errorCode } from "../support/compare.ts";

const p = stepScores([0.9, 0.2, 0.6], "probability");
const signed = stepScores([0.8, -0.6, 0.2], "signed");

describe("aggregate", () => {
  it("gives each aggregator's value", () => {
    const values = Object.fromEntries(aggregators.map((how) => [how, aggregate(p, how)]));
    const logit = (x: number): number => Math.log(x / (1 - x));
    const mean = (logit(0.9) + logit(0.2) + logit(0.6)) / 3;
    expect(values.min).toBe(0.2);
    expect(values.max).toBe(0.9);
    expect(values.last).toBe(0.6);
    expect(values.product).toBeCloseTo(0.108, 12);
    expect(values.mean).toBeCloseTo(1.7 / 3, 12);
    expect(values["log-odds-mean"]).toBeCloseTo(1 / (1 + Math.exp(-mean)), 12);
    const weights = [0.9, 0.2, 0.6].map((x) => Math.exp(-x / 0.1));
    const total = weights.reduce((a, b) => a + b);
    expect(values["soft-min"]).toBeCloseTo(
      (0.9 * weights[0]! + 0.2 * weights[1]! + 0.6 * weights[2]!) / total,
      12,
    );
  });

  it("soft-min tends to the minimum and to the mean, and is finite for every temperature", () => {
    expect(aggregate(signed, "soft-min", { temperature: 1e-40 })).toBe(-0.6);
    expect(aggregate(signed, "soft-min", { temperature: 1e9 })).toBeCloseTo(0.4 / 3, 6);
  });

  it("log-odds of 0 and 1 are finite", () => {
    expect(aggregate(stepScores([0, 1], "probability"), "log-odds-mean")).toBeCloseTo(0.5, 6);
  });

  it.each<[Aggregator, "signed" | "unbounded"]>([
    ["min", "signed"],
    ["product", "signed"],
    ["log-odds-mean", "signed"],
    ["min", "unbounded"],
    ["product", "unbounded"],
    ["soft-min", "unbounded"],
  ])("%s of %s scores is an error", (how, range) => {
    expect(errorCode(() => aggregate(stepScores([0.5], range), how as "mean"))).toBe("ERR_SCORE_RANGE");
  });

  it("converted scores may be multiplied", () => {
    expect([...toProbability(signed).values]).toEqual([0.9, 0.2, 0.6]);
    expect(aggregate(toProbability(signed), "min")).toBe(0.2);
    expect(errorCode(() => toProbability(stepScores([3], "unbounded")))).toBe("ERR_SCORE_RANGE");
    expect(toProbability(stepScores([0], "unbounded"), { unbounded: "sigmoid" }).values[0]).toBe(0.5);
  });

  it("types refuse what the range does not allow", () => {
    // @ts-expect-error the minimum of signed scores
    expect(() => aggregate(signed, "min")).toThrow();
    // @ts-expect-error the product of signed scores
    expect(() => aggregate(signed, "product")).toThrow();
  });

  it("checks values, steps and options", () => {
    expect(errorCode(() => stepScores([1.5], "probability"))).toBe("ERR_SCORE_RANGE");
    expect(errorCode(() => aggregate(stepScores([], "probability"), "mean"))).toBe("ERR_SHAPE");
    expect(errorCode(() => aggregate(p, "median" as never))).toBe("ERR_ARGUMENT_VALUE");
    expect(errorCode(() => aggregate(p, "soft-min", { temperature: 0 }))).toBe("ERR_ARGUMENT_VALUE");
    const holes = stepScores([0.5, null], "probability");
    expect(aggregate(holes, "min")).toBeNaN();
    expect(aggregate(holes, "min", { unscored: "skip" })).toBe(0.5);
    expect(errorCode(() => aggregate(holes, "min", { unscored: "error" }))).toBe("ERR_SCORE_RANGE");
  });
});
