import { expect, test } from "vitest";
import { joinRows } from "../../../lib/train/batches.ts";
import type { GenerateRequest, Generator } from "../../../lib/train/rl/types.ts";
import { endEpisodes } from "../../../lib/train/tasks/episode.ts";
import { promptRows } from "../curriculum/support.ts";

const request: GenerateRequest = {
  prompts: promptRows(2),
  n: 2,
  firstSample: 0,
  maxTokens: 4,
  temperature: 1,
  stopIds: [],
  stop: [],
  seed: 0,
};

// Four responses; the log-prob of a token is its place in the batch.
const drawn: Generator = {
  exact: true,
  async generate() {
    const tokens = joinRows([[5, 6, 7, 8], [5], [9, 9, 5], [9]].map((row) => Int32Array.from(row)));
    return {
      tokens,
      logProbs: { data: Float32Array.from(tokens.data, (_, i) => i), offsets: tokens.offsets },
      stopped: Uint8Array.of(0, 1, 1, 0),
    };
  },
};

test("responses end where their episode does, and count as stopped then", async () => {
  // An episode of prompt p0 ends at the first 6, one of p1 at the first 9.
  const wanted = new Map([
    ["p0", 6],
    ["p1", 9],
  ]);
  const seen: string[] = [];
  const generator = endEpisodes(drawn, (prompt, tokens) => {
    seen.push(prompt.id);
    const at = tokens.indexOf(wanted.get(prompt.id)!);
    return at < 0 ? undefined : at + 1;
  });
  const { tokens, logProbs, stopped } = await generator.generate(request);
  expect(seen).toEqual(["p0", "p0", "p1", "p1"]);
  expect([...tokens.data]).toEqual([5, 6, 5, 9, 9]);
  expect([...tokens.offsets]).toEqual([0, 2, 3, 4, 5]);
  expect([...logProbs.data]).toEqual([0, 1, 4, 5, 8]);
  expect([...logProbs.offsets]).toEqual([...tokens.offsets]);
  expect([...stopped]).toEqual([1, 1, 1, 1]);
  expect(generator.exact).toBe(true);
});

test("episodes that go on change nothing", async () => {
  const generator = endEpisodes(drawn, () => undefined);
  expect(await generator.generate(request)).toEqual(await drawn.generate(request));
});
