import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openCheckpoint } from "../../lib/model/checkpoint.ts";
import { defaultHead, detectHeads } from "../../lib/model/heads.ts";
import type { Head } from "../../lib/model/types.ts";
import { affine, referenceHidden } from "../reference/decoder.ts";
import {
  backbone,
  random,
  type TestTensors,
  temporaryFolder,
  tensor,
  writeCheckpoint,
} from "../support/checkpoint.ts";
import { expectClose } from "../support/compare.ts";
import { rejection } from "../support/errors.ts";
import { applyHead, ints, openSession, runAll } from "../support/model.ts";

const CONFIG = {
  model_type: "qwen2",
  vocab_size: 9000,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  max_position_embeddings: 64,
  tie_word_embeddings: false,
};
const full = backbone(CONFIG, "BF16");
const { "lm_head.weight": lmHead, ...body } = full;
const uniform = random(11);
const make = (...shape: number[]) => tensor(uniform, "BF16", shape, 0.5);
const IDS = [5, 8999, 17, 4, 8192, 8191];
const READS = [0, 3, 5];
const hidden = READS.map((i) => referenceHidden(CONFIG, body, { ids: IDS })[i]!);
const BATCH = { ids: ints([IDS]), reads: ints([READS]) };
const root = await temporaryFolder();
let counter = 0;
const write = (extra: TestTensors, config: object = CONFIG) =>
  writeCheckpoint(join(root, `c${counter++}`), config, { ...body, ...extra });

async function check(path: string, head: Head, expected: number[], targets?: number[]): Promise<void> {
  const session = await openSession(path, head);
  expect(session.outputs).toBe(expected.length / READS.length);
  const batch = targets ? { ...BATCH, targets: ints([targets]) } : BATCH;
  expectClose(await runAll(session, batch), expected, 2e-5);
}

describe("heads agree with a float64 forward", () => {
  test("token classification, with and without bias", async () => {
    const [weight, bias] = [make(3, 16), make(3)];
    const head = { kind: "token-classification", classes: 3 } as const;
    const withBias = write({ "score.weight": weight, "score.bias": bias });
    await check(withBias, head, applyHead(hidden, weight, bias));
    await check(write({ "score.weight": weight }), head, applyHead(hidden, weight));
  });

  test("two layers with a ReLU between, not one", async () => {
    const [a, b, c, d] = [make(16, 16), make(16), make(2, 16), make(2)];
    const path = write({ "score.0.weight": a, "score.0.bias": b, "score.2.weight": c, "score.2.bias": d });
    const inner = affine(hidden, a.values, b.values).map((row) => row.map((x) => Math.max(0, x)));
    await check(path, { kind: "mlp", classes: 2 }, applyHead(inner, c, d));
  });

  test("value head, beside the backbone or outside its prefix", async () => {
    const tensors = { "v_head.summary.weight": make(1, 16), "v_head.summary.bias": make(1) };
    const expected = applyHead(hidden, tensors["v_head.summary.weight"], tensors["v_head.summary.bias"]);
    await check(write(tensors), { kind: "value" }, expected);
    const wrapped = Object.fromEntries(Object.entries(body).map(([k, v]) => [`pretrained_model.${k}`, v]));
    const path = writeCheckpoint(join(root, "wrapped"), CONFIG, { ...wrapped, ...tensors });
    await check(path, { kind: "value" }, expected);
  });

  test("scalar", async () => {
    const weight = make(1, 16);
    await check(write({ "score.weight": weight }), { kind: "scalar" }, applyHead(hidden, weight));
  });

  for (const tied of [false, true]) {
    const table = tied ? body["model.embed_tokens.weight"]! : lmHead!;
    const path = write(tied ? {} : { "lm_head.weight": lmHead! }, { ...CONFIG, tie_word_embeddings: tied });
    const logits = affine(hidden, table.values);

    test(`rows of the LM head, in the order asked for, ${tied ? "tied" : "its own"}`, async () => {
      const tokenIds = [8999, 3, 3, 0];
      const expected = logits.flatMap((row) => tokenIds.map((id) => row[id]!));
      await check(path, { kind: "lm-rows", tokenIds }, expected);
    });

    test(`log-probabilities of targets, ${tied ? "tied" : "its own"}`, async () => {
      const targets = [8999, 0, 8192];
      const expected = logits.map((row, i) => {
        const top = Math.max(...row);
        return row[targets[i]!]! - top - Math.log(row.reduce((sum, x) => sum + Math.exp(x - top), 0));
      });
      await check(path, { kind: "lm" }, expected, targets);
    });
  }
});

describe("which head a checkpoint has", () => {
  const score = { "score.weight": make(2, 16) };
  const lm = { "lm_head.weight": lmHead! };
  const mlp = { "score.0.weight": make(16, 16), "score.2.weight": make(2, 16) };
  const value = { "v_head.summary.weight": make(1, 16) };
  const kinds = async (extra: TestTensors, config: object = CONFIG) =>
    detectHeads(await openCheckpoint(write(extra, config)));

  test("is told by its tensors", async () => {
    expect(await kinds(score)).toEqual([{ kind: "token-classification", classes: 2 }]);
    expect(await kinds({ "score.weight": make(1, 16) })).toEqual([{ kind: "scalar" }]);
    expect(await kinds(mlp)).toEqual([{ kind: "mlp", classes: 2 }]);
    expect(await kinds(value)).toEqual([{ kind: "value" }]);
    expect(await kinds(lm)).toEqual([{ kind: "lm" }]);
    expect(await kinds({}, { ...CONFIG, tie_word_embeddings: true })).toEqual([{ kind: "lm" }]);
    expect(await kinds({})).toEqual([]);
  });

  test("an own head goes before an LM head that is only left over", async () => {
    expect(defaultHead(await openCheckpoint(write({ ...score, ...lm })))).toMatchObject({
      kind: "token-classification",
    });
  });

  test("two own heads are ambiguous, none is missing", async () => {
    const both = await rejection(async () =>
      defaultHead(await openCheckpoint(write({ ...score, ...value }))),
    );
    expect(both).toMatchObject({ code: "ERR_INPUT", message: expect.stringMatching(/ambiguous.*value/) });
    const none = await rejection(async () => defaultHead(await openCheckpoint(write({}))));
    expect(none).toMatchObject({ code: "ERR_INPUT", message: expect.stringMatching(/no head found/) });
  });

  const refused: Record<string, [extra: TestTensors, head: Head, message: RegExp]> = {
    "a missing head": [
      lm,
      { kind: "token-classification", classes: 2 },
      /score\.weight \[2,16\], found none/,
    ],
    "another number of classes": [
      score,
      { kind: "token-classification", classes: 3 },
      /score\.weight: expected \[3,16\], got \[2,16\]/,
    ],
    "one layer of a two-layer head": [mlp, { kind: "token-classification", classes: 2 }, /two-layer/],
    "a two-layer head beside a one-layer head": [
      { ...mlp, ...score },
      { kind: "mlp", classes: 2 },
      /ambiguous/,
    ],
    "half of a two-layer head": [
      { "score.0.weight": make(16, 16) },
      { kind: "mlp", classes: 2 },
      /score\.2\.weight \[2,16\], found none/,
    ],
    "an LM head that is not there": [score, { kind: "lm" }, /lm_head\.weight \[9000,16\], found none/],
    "a row that the LM head lacks": [lm, { kind: "lm-rows", tokenIds: [9000] }, /token id 9000/],
    "no rows": [lm, { kind: "lm-rows", tokenIds: [] }, /at least one row/],
    "no classes": [score, { kind: "token-classification", classes: 0 }, /classes/],
  };
  for (const [name, [extra, head, message]] of Object.entries(refused)) {
    test(`${name} is a load error`, async () => {
      const found = await rejection(() => openSession(write(extra), head));
      expect(found.code).toBe("ERR_INPUT");
      expect(found.message).toMatch(message);
    });
  }

  test("an untied config that says nothing and has no LM head", async () => {
    const { tie_word_embeddings: _, ...silent } = CONFIG;
    const found = await rejection(() => openSession(write({}, silent), { kind: "lm" }));
    expect(found).toMatchObject({ code: "ERR_INPUT", message: expect.stringMatching(/does not say.*tied/) });
  });
});
