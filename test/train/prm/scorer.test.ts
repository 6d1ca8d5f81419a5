// The scorer of the training engine beside `minform score` on the same folder.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { loadPrm } from "../../../lib/prm/index.ts";
import { arithmeticCodec as codec } from "../../../lib/train/arithmetic/codec.ts";
import { mixtureExample } from "../../../lib/train/arithmetic/data.ts";
import { promptOf } from "../../../lib/train/arithmetic/problem.ts";
import { EOS, SEPARATOR } from "../../../lib/train/arithmetic/vocabulary.ts";
import { createModel } from "../../../lib/train/engine/index.ts";
import { ARITHMETIC_MODEL } from "../../../lib/train/arithmetic/checkpoint.ts";
import { createScorer, openScorer, trainPrm } from "../../../lib/train/prm/index.ts";
import { trainSft } from "../../../lib/train/sft/train.ts";
import { promptIds } from "../../../lib/train/text/codec.ts";
import { run } from "../../cli/in-process.ts";
import { temporaryFolder } from "../../support/checkpoint.ts";
import { sharedPath } from "../../support/checkpoints.ts";
import { rejection } from "../../support/errors.ts";

const BOUND = 1e-4;
const root = await temporaryFolder();
const { model: base } = await trainSft(
  { model: "arithmetic", data: "arithmetic", rows: 200, steps: 20, learningRate: 4e-3 },
  { folder: join(root, "base") },
);
const examples = Array.from({ length: 12 }, (_, i) => {
  const { problem, tokens } = mixtureExample("held-out", 2, i);
  const prompt = Array.from(promptIds(codec, promptOf(problem)));
  const ends = tokens.flatMap((token, t) => (token === SEPARATOR || token === EOS ? [t] : []));
  return { question: promptOf(problem), prompt, tokens: [...tokens], ends };
});
const rows = examples.map(({ prompt, tokens, ends }) => ({
  ids: Int32Array.from([...prompt, ...tokens]),
  ends: Int32Array.from(ends, (end) => prompt.length + end),
}));

describe.each([
  ["one layer", undefined],
  ["two layers", 8],
])("a trained PRM with a head of %s", (name, headWidth) => {
  const trained = trainPrm(
    {
      model: base,
      data: "arithmetic",
      samples: 80,
      heldOutSamples: 10,
      separator: "\n\n",
      ...(headWidth === undefined ? {} : { headWidth }),
      head: { epochs: 1, batch: 20, learningRate: 5e-3 },
      all: { epochs: 1, batch: 20, learningRate: 3e-3 },
    },
    { folder: join(root, name) },
  );

  afterEach(() => vi.restoreAllMocks());

  it("scores alike in loadPrm, as text and as the policy's ids", async () => {
    const { model: path } = await trained;
    const scorer = await openScorer(path);
    const { data, offsets } = await scorer.score(rows);
    await using prm = await loadPrm(path);
    expect(prm.convention.name).toBe("trained");
    // What is asked for goes before what lies beside the weights; PURE's newline is not in this vocabulary.
    expect(await rejection(() => loadPrm(path, { convention: "pure" }))).toMatchObject({
      code: "ERR_CONVENTION",
    });
    const texts = examples.map(({ question, tokens }) => ({ question, response: codec.decode(tokens) }));
    const ids = examples.map(({ prompt, tokens }) => ({ promptIds: prompt, responseIds: tokens }));
    for (const items of [texts, ids]) {
      const scores = (await prm.score(items)).flatMap(({ values }) => [...values]);
      expect(scores).toHaveLength(offsets.at(-1)!);
      for (const [i, score] of scores.entries()) expect(Math.abs(score - data[i]!)).toBeLessThan(BOUND);
    }
    expect(new Set(data).size).toBeGreaterThan(10);
    expect(data.every((reward) => Math.abs(reward) < 1)).toBe(true);
  });

  it("scores alike in minform score", async () => {
    const { model: path } = await trained;
    const [input, output] = [join(root, `${name}.in.jsonl`), join(root, `${name}.out.jsonl`)];
    const lines = examples.map(({ question, tokens }) => ({ question, response: codec.decode(tokens) }));
    writeFileSync(input, lines.map((line) => JSON.stringify(line)).join("\n"));
    const { code, stderr } = await run("score", "--model", path, "--in", input, "--out", output);
    vi.restoreAllMocks();
    expect(code).toBe(0);
    expect(stderr).toContain("convention trained (its prm_convention.json)");
    const scored = readFileSync(output, "utf8").trim().split("\n");
    const scores = scored.flatMap((line) => (JSON.parse(line) as { step_rewards: number[] }).step_rewards);
    const { data } = await (await openScorer(path)).score(rows);
    expect(scores).toHaveLength(data.length);
    for (const [i, score] of scores.entries()) expect(Math.abs(score - data[i]!)).toBeLessThan(BOUND);
  });
});

describe("the scorer", () => {
  const model = createModel(ARITHMETIC_MODEL, { heads: { classifier: { classes: 2 } }, seed: 3 });
  const scorer = createScorer(model, { separatorId: SEPARATOR });

  it("gives the same bits whatever the batches, and leaves the ids as they are", async () => {
    const before = rows.map(({ ids }) => Int32Array.from(ids));
    const { data } = await scorer.score(rows);
    const small = createScorer(model, { separatorId: SEPARATOR, batchTokens: 40 });
    expect((await small.score(rows)).data).toEqual(data);
    const alone = await Promise.all([scorer.score(rows.slice(3, 4))]);
    expect(data.subarray(...range(3))).toEqual(alone[0]!.data);
    expect(rows.map(({ ids }) => ids)).toEqual(before);
  });

  it("takes rows without steps", async () => {
    const none = { ids: Int32Array.of(1, 2), ends: new Int32Array() };
    expect(await scorer.score([none])).toEqual({ data: new Float32Array(), offsets: Int32Array.of(0, 0) });
    const { data, offsets } = await scorer.score([none, rows[0]!, none]);
    expect(Array.from(offsets)).toEqual([0, 0, rows[0]!.ends.length, rows[0]!.ends.length]);
    expect(data).toEqual((await scorer.score([rows[0]!])).data);
  });

  it("rejects ends that do not rise or lie outside, a model without a classifier, and stops by signal", async () => {
    const bad = (...ends: number[]) =>
      rejection(() => scorer.score([{ ids: Int32Array.of(1, 2, 3), ends: Int32Array.from(ends) }]));
    expect((await bad(1, 1)).message).toBe("rows[0].ends[1]: expected rising indices below 3, got 1");
    expect((await bad(3)).message).toBe("rows[0].ends[0]: expected rising indices below 3, got 3");
    const policy = createModel(ARITHMETIC_MODEL, { heads: { lm: true } });
    expect(() => createScorer(policy, { separatorId: 3 })).toThrow("model: expected a classifier, got none");
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(scorer.score(rows, { signal })).rejects.toThrow("enough");
  });

  function range(row: number): [number, number] {
    const before = rows.slice(0, row).reduce((sum, { ends }) => sum + ends.length, 0);
    return [before, before + rows[row]!.ends.length];
  }
});

const pure = sharedPath("checkpoints/pure-prm-tiny");
const qwen = sharedPath("checkpoints/qwen-prm-tiny");

describe.skipIf(pure === undefined)("checkpoints of others", () => {
  it("of PURE's kind score alike in both engines", async () => {
    const scorer = await openScorer(pure!);
    await using prm = await loadPrm(pure!);
    const items = [{ question: "What is 1 + 1?", steps: ["One and one.", "They are two.", "So 2."] }];
    const [scores] = await prm.score(items);
    const { rows: prepared } = prm.prepare(items[0]!);
    const row = { ids: Int32Array.from(prepared[0]!.ids), ends: Int32Array.from(prepared[0]!.reads) };
    const { data } = await scorer.score([row]);
    expect(data).toHaveLength(3);
    for (const [i, score] of scores!.values.entries()) expect(Math.abs(score - data[i]!)).toBeLessThan(BOUND);
  });

  it("of another kind are refused", async () => {
    expect(await rejection(() => openScorer(qwen!))).toMatchObject({
      code: "ERR_INPUT",
      message: expect.stringContaining(
        "expected a token classifier that reads steps at a separator token, its convention is qwen-prm",
      ),
    });
  });
});
