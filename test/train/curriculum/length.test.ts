import { expect, test } from "vitest";
import { joinRows } from "../../../lib/train/batches.ts";
import { GrowingLength } from "../../../lib/train/curriculum/index.ts";
import type { GenerateRequest, Generator } from "../../../lib/train/rl/types.ts";
import { refusal } from "./support.ts";

// What the wrapped generator is asked for.
async function asked(growing: GrowingLength, maxTokens: number, temperature = 1): Promise<number> {
  let seen = 0;
  const generator: Generator = {
    exact: true,
    generate: async (request) => {
      seen = request.maxTokens;
      return undefined as never;
    },
  };
  await growing.limit(generator).generate({ maxTokens, temperature } as GenerateRequest);
  return seen;
}

// A step of which so many of ten responses are as long as the limit, the others a token shorter.
function after(growing: GrowingLength, reached: number): Promise<Record<string, number>> {
  const rows = Array.from({ length: 10 }, (_, i) => new Int32Array(growing.tokens - (i < reached ? 0 : 1)));
  return growing.afterStep({ rollouts: { tokens: joinRows(rows) } as never });
}

test("the limit grows when enough responses reach it, and never beyond the run's own", async () => {
  const growing = new GrowingLength({ start: 2, by: 3, share: 0.3, memory: 1 });
  expect(await asked(growing, 32)).toBe(2);
  await after(growing, 3);
  expect(await asked(growing, 32)).toBe(2);
  await after(growing, 4);
  expect(await asked(growing, 32)).toBe(5);
  expect(await asked(growing, 4)).toBe(4);
});

test("greedy responses are as long as asked for", async () => {
  expect(await asked(new GrowingLength({ start: 2 }), 32, 0)).toBe(32);
});

test("the share is a running one, begun anew after a change", async () => {
  const growing = new GrowingLength({ start: 1, share: 0.5, memory: 0.5 });
  expect(await after(growing, 0)).toEqual({ "curriculum/max_tokens": 1, "curriculum/reached": 0 });
  expect((await after(growing, 8))["curriculum/reached"]).toBe(0.4);
  expect((await after(growing, 8))["curriculum/reached"]).toBeCloseTo(0.6);
  expect(await after(growing, 2)).toEqual({ "curriculum/max_tokens": 2, "curriculum/reached": 0.2 });
});

test("a restored one goes on as one that was never stopped", async () => {
  const shares = [1, 5, 4, 6, 2, 7, 7, 3, 5, 8];
  const run = async (growing: GrowingLength, from: number, to: number) => {
    const seen: unknown[] = [];
    for (const cut of shares.slice(from, to)) seen.push(await after(growing, cut));
    return seen;
  };
  const whole = await run(new GrowingLength({ start: 2 }), 0, 10);
  for (const at of [0, 2, 5]) {
    const first = new GrowingLength({ start: 2 });
    await run(first, 0, at);
    const second = new GrowingLength({ start: 2 });
    await second.restore("", JSON.parse(JSON.stringify(await first.save())));
    expect(await run(second, at, 10)).toEqual(whole.slice(at));
  }
});

test("bad options", () => {
  expect(refusal(() => new GrowingLength({ start: 0 }))).toBe("start: expected at least 1, got 0");
  expect(refusal(() => new GrowingLength({ start: 1, share: 0 }))).toBe(
    "share: expected a number in (0, 1], got 0",
  );
});
