import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { randomStream } from "../../../lib/train/arithmetic/random.ts";
import { joinRows } from "../../../lib/train/batches.ts";
import { createModel } from "../../../lib/train/engine/index.ts";
import { OnlinePrm, type OnlineOptions, relabel } from "../../../lib/train/online/index.ts";
import { promptRows, refusal } from "../curriculum/support.ts";

const SEPARATOR = 9;
const CONFIG = {
  model_type: "llama",
  vocab_size: 10,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  max_position_embeddings: 32,
};

const newPrm = () => ({
  model: createModel(CONFIG, { heads: { classifier: { classes: 2 } }, seed: 3 }),
  separatorId: SEPARATOR,
});

// A step of 16 solutions of two steps each. A wrong one has token 7 in one of its steps, a right one nowhere.
async function stepOf(online: OnlinePrm, step: number) {
  const random = randomStream(11, step);
  const prompts = promptRows(4);
  const solutions = Array.from({ length: 16 }, (_, row) => {
    const steps = [0, 1].map(() => [2 + Math.floor(4 * random()), 8]);
    const isRight = row % 2 === 0;
    if (!isRight) steps[Math.floor(2 * random())]![0] = 7;
    return { tokens: steps.flat(), isRight };
  });
  const tokens = joinRows(solutions.map((one) => Int32Array.from(one.tokens)));
  const rows = tokens.offsets.length - 1;
  const promptOf = Int32Array.from({ length: rows }, (_, row) => row >> 2);
  const ids = Array.from(promptOf, (prompt, row) =>
    Int32Array.of(
      ...prompts[prompt]!.ids,
      ...tokens.data.subarray(tokens.offsets[row], tokens.offsets[row + 1]),
    ),
  );
  const stepRewards = await online.scorer.score(ids.map((row) => ({ ids: row, ends: Int32Array.of(2, 4) })));
  const context = {
    step,
    rollouts: {
      prompts,
      promptOf,
      tokens,
      logProbs: undefined as never,
      stopped: new Uint8Array(rows),
      texts: [],
    },
    stepEnds: joinRows(solutions.map(() => Int32Array.of(1, 3))),
    stepRewards,
    verified: Float32Array.from(solutions, ({ isRight }) => (isRight ? 1 : 0)),
  };
  return { context, solutions, metrics: await online.afterStep(context) };
}

const OPTIONS: OnlineOptions = { every: 2, batch: 8, steps: 4, learningRate: 1e-2 };

describe("relabel", () => {
  test("a right answer makes all steps good", () => {
    expect(relabel(true, [0.5, -0.9])).toEqual([true, true]);
  });

  test("a wrong one makes the weakest step bad, the first of equals, and says nothing of the others", () => {
    expect(relabel(false, [0.5, -0.9, 0.1])).toEqual([null, false, null]);
    expect(relabel(false, [0.2, 0.1, 0.1])).toEqual([null, false, null]);
  });

  test("or the last", () => {
    expect(relabel(false, [0.5, -0.9, 0.1], "last")).toEqual([null, null, false]);
  });

  test("no steps, no labels", () => {
    expect(refusal(() => relabel(true, []))).toBe("rewards: expected at least one step, got 0");
  });
});

describe("an online PRM", () => {
  test("learns which step is wrong from nothing but answers", async () => {
    const online = new OnlinePrm(newPrm(), OPTIONS);
    for (let step = 1; step <= 40; step++) await stepOf(online, step);
    const { context, solutions } = await stepOf(online, 41);
    const { data, offsets } = context.stepRewards;
    let found = 0;
    for (const [row, { tokens, isRight }] of solutions.entries()) {
      if (isRight) continue;
      const [first, second] = data.subarray(offsets[row], offsets[row + 1]);
      if (first! < second! === (tokens[0] === 7)) found++;
    }
    expect(found).toBe(8);
  });

  test("refreshes every few steps, on as many right as wrong solutions", async () => {
    const online = new OnlinePrm(newPrm(), OPTIONS);
    expect((await stepOf(online, 1)).metrics).toEqual({});
    const { metrics } = await stepOf(online, 2);
    expect(metrics["online/solutions"]).toBe(32);
    expect(metrics["online/loss"]).toBeGreaterThan(0);
  });

  test("does nothing without wrong answers, nor with answers that nobody knows", async () => {
    for (const value of [1, Number.NaN]) {
      const prm = newPrm();
      const before = prm.model.parameters.get("score.weight")!.data.slice();
      const online = new OnlinePrm(prm, { ...OPTIONS, every: 2 });
      const { context } = await stepOf(new OnlinePrm(newPrm(), OPTIONS), 1);
      const metrics = await online.afterStep({ ...context, step: 2, verified: context.verified.fill(value) });
      expect(metrics).toEqual({ "online/solutions": 0 });
      expect(prm.model.parameters.get("score.weight")!.data).toEqual(before);
    }
  });

  test("with solutions to replay, wrong ones alone will do, and as many are replayed", async () => {
    const replay = {
      rows: [{ prompt: "0", completions: ["2", "3"], labels: [true, true] }],
      codec: { encode: (text: string) => Array.from(text, Number), decode: () => "" },
    };
    const online = new OnlinePrm(newPrm(), { ...OPTIONS, every: 1, replay });
    const { context } = await stepOf(new OnlinePrm(newPrm(), OPTIONS), 1);
    const metrics = await online.afterStep({ ...context, verified: context.verified.fill(0) });
    expect(metrics["online/solutions"]).toBe(16);
    expect(metrics["online/loss"]).toBeGreaterThan(0);
  });

  test("a restored one goes on to the same bits, in the middle between two refreshes", async () => {
    const run = async (online: OnlinePrm, from: number, to: number) => {
      const seen: unknown[] = [];
      for (let step = from; step <= to; step++) seen.push((await stepOf(online, step)).metrics);
      return seen;
    };
    const [one, two] = [newPrm(), newPrm()];
    const whole = new OnlinePrm(one, OPTIONS);
    await run(whole, 1, 3);
    const folder = mkdtempSync(join(tmpdir(), "online-"));
    const state = JSON.parse(JSON.stringify(await whole.save(folder)));
    const restored = new OnlinePrm(two, OPTIONS);
    await restored.restore(folder, state);
    expect(await run(restored, 4, 6)).toEqual(await run(whole, 4, 6));
    for (const [name, { data }] of one.model.parameters)
      expect(two.model.parameters.get(name)!.data, name).toEqual(data);
  });

  test("bad options", () => {
    expect(refusal(() => new OnlinePrm(newPrm(), { every: 0 }))).toBe("every: expected at least 1, got 0");
    expect(refusal(() => new OnlinePrm(newPrm(), { blame: "first" as never }))).toBe(
      'blame: expected one of "weakest", "last", got "first"',
    );
  });
});
