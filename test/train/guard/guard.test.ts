import { describe, expect, test } from "vitest";
import { MinformError } from "../../../lib/errors.ts";
import { randomStream } from "../../../lib/train/arithmetic/random.ts";
import { DEFAULT_RULES, type GuardRule, HackGuard } from "../../../lib/train/guard/index.ts";

// The verdicts of a guard on a series of one metric, by step.
function verdicts(rule: GuardRule, values: readonly number[]): string[] {
  const guard = new HackGuard([rule]);
  return values.map((value, step) => guard.check(step, { [rule.metric]: value })?.reason ?? "");
}

const noise = randomStream(4);
const steady = Array.from({ length: 30 }, () => 4 + 0.2 * (noise() - 0.5));

describe("jump", () => {
  const rule: GuardRule = { kind: "jump", metric: "m", window: 20 };

  test("noise of the window's own size is no jump; a leap is, either way and for as long as it lasts", () => {
    expect(verdicts(rule, steady).join("")).toBe("");
    for (const leap of [6, 2]) {
      const found = verdicts(rule, [...steady, leap, leap, leap]).slice(30);
      for (const reason of found)
        expect(reason).toMatch(/^m jumped to [62]: the last 20 steps lie around [34]/);
    }
  });

  test("only in its direction", () => {
    expect(verdicts({ ...rule, direction: "down" }, [...steady, 6]).at(-1)).toBe("");
    expect(verdicts({ ...rule, direction: "down" }, [...steady, 2]).at(-1)).not.toBe("");
  });

  test("a window that is not full yet judges nothing", () => {
    expect(verdicts(rule, [4, 4, 4, 40]).join("")).toBe("");
  });

  test("on a flat window `least` decides", () => {
    const flat = new Array<number>(20).fill(1);
    expect(verdicts(rule, [...flat, 1.01]).at(-1)).not.toBe("");
    expect(verdicts({ ...rule, least: 0.1 }, [...flat, 1.01]).at(-1)).toBe("");
  });

  test("patience waits for as many suspect steps in a row", () => {
    const found = verdicts({ ...rule, patience: 2 }, [...steady, 9, 4, 9, 9]).slice(30);
    expect(found.map((reason) => reason !== "")).toEqual([false, false, false, true]);
  });
});

describe("drift", () => {
  test("a slow rise that fits every window is found by its factor", () => {
    const slow = Array.from({ length: 60 }, (_, i) => 4.3 + 0.06 * i + 0.2 * (i % 3));
    expect(verdicts({ kind: "jump", metric: "m" }, slow).join("")).toBe("");
    const found = verdicts({ kind: "drift", metric: "m", factor: 1.5 }, slow);
    // The start is the mean of the first five, 4.58: step 38 is the first beyond 6.87 (6.98).
    expect(found.findIndex((reason) => reason !== "")).toBe(38);
  });

  test("a fall counts too, and a negative start", () => {
    expect(verdicts({ kind: "drift", metric: "m", first: 1 }, [6, 3.9]).at(-1)).toContain("from 6 to 3.9");
    expect(verdicts({ kind: "drift", metric: "m", first: 1 }, [-6, -10]).at(-1)).toContain("from -6 to -10");
    expect(verdicts({ kind: "drift", metric: "m", first: 1, direction: "up" }, [6, 3.9]).at(-1)).toBe("");
  });
});

test("limit", () => {
  expect(verdicts({ kind: "limit", metric: "m", max: 10 }, [9, 10, 11])).toEqual([
    "",
    "",
    "m is 11, expected -Infinity to 10",
  ]);
});

describe("divergence", () => {
  const rule: GuardRule = { kind: "divergence", metric: "score", truth: "right", fall: 0.05, window: 10 };
  const check = (score: (i: number) => number, right: (i: number) => number) => {
    const guard = new HackGuard([rule]);
    return Array.from({ length: 30 }, (_, step) =>
      guard.check(step, { score: score(step), right: right(step) }),
    );
  };

  test("found when the judged reward rises while the true one falls", () => {
    const found = check(
      (i) => 0.5 + 0.01 * i,
      (i) => 0.6 - 0.02 * i,
    );
    // Over ten steps the later half lies .05 higher and .1 lower.
    expect(found.findIndex((verdict) => verdict !== undefined)).toBe(9);
    expect(found[9]).toEqual({
      action: "alarm",
      reason: "score rose by 0.05 while right fell by 0.1 within 10 steps",
    });
  });

  test("not when both rise, nor when both fall", () => {
    expect(
      check(
        (i) => i / 30,
        (i) => i / 40,
      ).every((one) => one === undefined),
    ).toBe(true);
    expect(
      check(
        (i) => -i / 30,
        (i) => -i / 40,
      ).every((one) => one === undefined),
    ).toBe(true);
  });
});

describe("the guard", () => {
  test("the gravest action wins and all reasons are given", () => {
    const guard = new HackGuard([
      { kind: "limit", metric: "a", max: 1, action: "stop" },
      { kind: "limit", metric: "b", max: 1, action: "rollback" },
    ]);
    expect(guard.check(0, { a: 0, b: 0 })).toBeUndefined();
    expect(guard.check(1, { a: 0, b: 2 })?.action).toBe("rollback");
    const both = guard.check(2, { a: 3, b: 2 });
    expect(both?.action).toBe("stop");
    expect(both?.reason).toMatch(/^a is 3.*; b is 2/);
  });

  test("a metric that is not there is passed over, one that is NaN is a finding", () => {
    const guard = new HackGuard([{ kind: "jump", metric: "m" }]);
    expect(guard.check(0, { other: 1 })).toBeUndefined();
    expect(guard.check(1, { m: NaN })?.reason).toBe("m is NaN, not a finite number");
  });

  test("a restored guard goes on as one that was never stopped, through JSON", () => {
    const rules: GuardRule[] = [
      { kind: "jump", metric: "m", patience: 2 },
      { kind: "drift", metric: "m", factor: 1.2 },
      { kind: "divergence", metric: "m", truth: "t", fall: 0.01 },
    ];
    const series = Array.from({ length: 60 }, (_, i) => ({
      m: 4 + 0.02 * i + (i % 17 === 16 ? 3 : 0),
      t: 1 - 0.01 * i,
    }));
    const run = (guard: HackGuard, from: number, to: number) =>
      series.slice(from, to).map((metrics, i) => guard.check(from + i, metrics));
    const whole = run(new HackGuard(rules), 0, 60);
    for (const cut of [3, 22, 33, 34, 50]) {
      const first = new HackGuard(rules);
      run(first, 0, cut);
      const second = new HackGuard(rules);
      second.restore(JSON.parse(JSON.stringify(first.state())));
      expect(run(second, cut, 60)).toEqual(whole.slice(cut));
    }
    expect(whole.some((verdict) => verdict !== undefined)).toBe(true);
  });

  test("the state of other rules is an error", () => {
    expect(() => new HackGuard().restore([])).toThrow(
      `guard state: expected the memory of ${DEFAULT_RULES.length} rules`,
    );
  });
});

test.each<[GuardRule, string]>([
  [{ kind: "jump", metric: "" }, "rules[0].metric: expected a name, got "],
  [{ kind: "drift", metric: "m", factor: 1 }, "rules[0].factor: expected a number in (1, Infinity), got 1"],
  [{ kind: "limit", metric: "m" }, "rules[0]: expected max or min, got neither"],
  [
    { kind: "divergence", metric: "m", truth: "t", fall: 1, window: 5 },
    "rules[0].window: expected an even number, got 5",
  ],
  [{ kind: "jump", metric: "m", window: 2 }, "rules[0].window: expected at least 3, got 2"],
])("bad rule %#", (rule, message) => {
  expect(() => new HackGuard([rule])).toThrow(message);
  expect(() => new HackGuard([rule])).toThrow(MinformError);
});
