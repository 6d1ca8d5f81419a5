import { describe, expect, test } from "vitest";
import { OrderedSampler } from "../../../lib/train/curriculum/index.ts";
import { drawIds, promptRows, refusal } from "./support.ts";

describe("epochs", () => {
  test("every prompt comes once in an epoch, in another order in the next", () => {
    const sampler = new OrderedSampler(promptRows(12), { seed: 3 });
    const epochs = [0, 1].map(() => [0, 1, 2].flatMap(() => drawIds(sampler, 4)));
    for (const epoch of epochs) expect(new Set(epoch).size).toBe(12);
    expect(epochs[1]).not.toEqual(epochs[0]);
  });

  test("a draw over the end of an epoch holds no prompt twice", () => {
    for (let seed = 0; seed < 20; seed++) {
      const sampler = new OrderedSampler(promptRows(5), { seed });
      for (let i = 0; i < 10; i++) {
        const ids = drawIds(sampler, 4);
        expect(new Set(ids).size).toBe(ids.length);
      }
    }
  });

  test("without shuffling, prompts come as they stand", () => {
    const sampler = new OrderedSampler(promptRows(3), { shuffle: false });
    expect(drawIds(sampler, 2)).toEqual(["p0", "p1"]);
    expect(drawIds(sampler, 1)).toEqual(["p2"]);
    expect(drawIds(sampler, 3)).toEqual(["p0", "p1", "p2"]);
  });

  test("a draw of more than all gives all", () => {
    expect(drawIds(new OrderedSampler(promptRows(3)), 10)).toHaveLength(3);
  });
});

describe("levels", () => {
  const rows = promptRows(30, (i) => i % 3);

  test("a level opens when the one before is passed often enough, on enough responses", () => {
    const sampler = new OrderedSampler(rows, { levels: { threshold: 0.7, minimum: 16, memory: 8 } });
    expect(new Set(sampler.next(30).map(({ level }) => level))).toEqual(new Set([0]));
    sampler.report("p0", 8, 8); // right, but only 8 responses
    expect(sampler.level).toBe(0);
    sampler.report("p3", 8, 8);
    expect(sampler.level).toBe(1);
    expect(new Set(sampler.next(30).map(({ level }) => level))).toEqual(new Set([0, 1]));
  });

  test("easier levels say nothing about the hardest open one", () => {
    const sampler = new OrderedSampler(rows, { levels: { start: 2, minimum: 1 } });
    for (let i = 0; i < 10; i++) sampler.report("p0", 8, 8);
    expect(sampler.level).toBe(1);
    sampler.report("p1", 8, 8);
    expect(sampler.level).toBe(2);
  });

  test("the running rate forgets: a level that was failed at first opens after it is passed for long", () => {
    const sampler = new OrderedSampler(rows, { levels: { threshold: 0.7, minimum: 1, memory: 32 } });
    sampler.report("p0", 0, 8);
    let groups = 0;
    while (sampler.level === 0 && groups < 100) {
      sampler.report("p3", 8, 8);
      groups++;
    }
    // 1 - exp(-8 k / 32) >= 0.7 first holds for k = 5.
    expect(groups).toBe(5);
  });

  test("a prompt without level is an error that names its row", () => {
    expect(refusal(() => new OrderedSampler(promptRows(2), { levels: {} }))).toBe(
      "rows[0].level: expected a number for a curriculum by level, got undefined",
    );
  });
});

describe("rest", () => {
  test("prompts that were all right or all wrong are left out for as many draws, mixed ones are not", () => {
    const sampler = new OrderedSampler(promptRows(4), { shuffle: false, rest: { solved: 2, failed: 1 } });
    sampler.next(4);
    sampler.report("p0", 8, 8);
    sampler.report("p1", 0, 8);
    sampler.report("p2", 3, 8);
    expect(drawIds(sampler, 4)).toEqual(["p2", "p3"]);
    expect(drawIds(sampler, 4)).toEqual(["p1", "p2", "p3"]);
    expect(drawIds(sampler, 4)).toEqual(["p0", "p1", "p2", "p3"]);
  });

  test("when all rest, none does", () => {
    const sampler = new OrderedSampler(promptRows(2), { rest: { solved: 100 } });
    for (const id of ["p0", "p1"]) sampler.report(id, 4, 4);
    expect(drawIds(sampler, 2)).toHaveLength(2);
  });
});

describe("state", () => {
  const options = { seed: 5, levels: { threshold: 0.5, minimum: 8 }, rest: { solved: 3, failed: 2 } };
  const rows = promptRows(20, (i) => i % 4);
  const run = (sampler: OrderedSampler, from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => {
      const drawn = drawIds(sampler, 3);
      for (const [k, id] of drawn.entries()) sampler.report(id, ((from + i) * 5 + k * 3) % 9, 8);
      return drawn;
    });

  test("a restored sampler goes on as one that was never stopped, through JSON", () => {
    const whole = run(new OrderedSampler(rows, options), 0, 40);
    const first = new OrderedSampler(rows, options);
    run(first, 0, 17);
    const second = new OrderedSampler(rows, options);
    second.restore(JSON.parse(JSON.stringify(first.state())));
    expect(run(second, 17, 40)).toEqual(whole.slice(17));
    expect(second.level).toBeGreaterThan(0);
  });

  test("another sampler's state and unknown prompts are errors", () => {
    const sampler = new OrderedSampler(rows, options);
    expect(refusal(() => sampler.restore({ kind: "pass-rate" }))).toBe(
      'sampler state: expected kind to be "ordered", got "pass-rate"',
    );
    const state = JSON.parse(JSON.stringify(sampler.state()));
    state.records = [["elsewhere", 0.5, 0]];
    expect(refusal(() => sampler.restore(state))).toContain("records to be ids of the prompts");
  });
});

test.each<[() => unknown, string]>([
  [() => new OrderedSampler([]), "rows: expected at least one prompt, got 0"],
  [
    () => new OrderedSampler([...promptRows(2), ...promptRows(1)]),
    'rows[2].id: expected unique ids, got "p0" again',
  ],
  [() => new OrderedSampler(promptRows(2)).next(0), "count: expected at least 1, got 0"],
  [() => new OrderedSampler(promptRows(2)).report("p9", 1, 2), 'id: expected one of the prompts, got "p9"'],
  [() => new OrderedSampler(promptRows(2)).report("p0", 3, 2), "passes: expected a number in [0, 2], got 3"],
])("bad input %#", (call, message) => {
  expect(refusal(call)).toBe(message);
});
