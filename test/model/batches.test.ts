import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { referenceHidden } from "../reference/decoder.ts";
import { backbone, random, temporaryFolder, tensor, writeCheckpoint } from "../support/checkpoint.ts";
import { expectClose, expectSameBits } from "../support/compare.ts";
import { applyHead, ints, openSession, runAll } from "../support/model.ts";

const CONFIG = {
  model_type: "qwen2",
  vocab_size: 211,
  hidden_size: 64,
  intermediate_size: 96,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 1024,
  use_sliding_window: true,
  sliding_window: 40,
  max_window_layers: 2,
};
const HEAD = { kind: "token-classification", classes: 2 } as const;

const tensors = backbone(CONFIG, "BF16");
tensors["score.weight"] = tensor(random(7), "BF16", [2, 64], 0.3);
tensors["score.bias"] = tensor(random(8), "BF16", [2], 0.3);
const path = writeCheckpoint(join(await temporaryFolder(), "model"), CONFIG, tensors);

const uniform = random(3);
const lengths = [7, 300, 31, 1, 129, 128, 64, 500];
const rows = lengths.map((n) => Array.from({ length: n }, () => Math.floor(uniform() * 211)));
const reads = rows.map((row) => [0, row.length >> 1, row.length - 1]);

describe("a read's values do not depend on what else is run", async () => {
  const session = await openSession(path, HEAD);
  const together = await runAll(session, { ids: ints(rows), reads: ints(reads) });

  test("the same batch twice: the same bits", async () => {
    expectSameBits(await runAll(session, { ids: ints(rows), reads: ints(reads) }), together);
  });

  test("alone", async () => {
    for (const [i, row] of rows.entries()) {
      const alone = await runAll(session, { ids: ints([row]), reads: ints([reads[i]!]) });
      expectClose(alone, together.subarray(6 * i, 6 * i + 6), 1e-5);
    }
  });

  test("one read alone", async () => {
    for (const [i, row] of rows.entries()) {
      const alone = await runAll(session, { ids: ints([row]), reads: ints([[row.length - 1]]) });
      expectClose(alone, together.subarray(6 * i + 4, 6 * i + 6), 1e-5);
    }
  });

  test("in another order", async () => {
    const order = [5, 2, 7, 0, 3, 6, 1, 4];
    const batch = { ids: ints(order.map((i) => rows[i]!)), reads: ints(order.map((i) => reads[i]!)) };
    const shuffled = await runAll(session, batch);
    const expected = order.flatMap((i) => [...together.subarray(6 * i, 6 * i + 6)]);
    expectClose(shuffled, expected, 1e-5);
  });

  test("rows of a batch run as separate passes", async () => {
    const batch = { ids: ints(rows), reads: ints(reads) };
    const parts = [await session.run(batch, 0, 3), await session.run(batch, 3, 8)];
    expectClose([...parts[0]!, ...parts[1]!], together, 1e-5);
  });

  test("with another number of threads, and with converted weights", async () => {
    const batch = { ids: ints(rows), reads: ints(reads) };
    const threads = await openSession(path, HEAD, { threads: 3 });
    expectClose(await runAll(threads, batch), together, 1e-5);
    const converted = await openSession(path, HEAD, { weights: "float32" });
    expectClose(await runAll(converted, batch), together, 1e-5);
  });

  test("later tokens of a row", async () => {
    const cut = rows[7]!.slice(0, 251);
    const short = await runAll(session, { ids: ints([cut]), reads: ints([[0, 250]]) });
    expectClose(short, together.subarray(6 * 7, 6 * 7 + 4), 1e-5);
  });

  test("and they are right", () => {
    const windows = [null, null, 40];
    const hidden = referenceHidden({ ...CONFIG, windows }, tensors, { ids: rows[4]! });
    const read = reads[4]!.map((i) => hidden[i]!);
    const expected = applyHead(read, tensors["score.weight"]!, tensors["score.bias"]);
    expectClose(together.subarray(24, 30), expected, 2e-5);
  });

  test("the bound would catch another row's values", () => {
    expect(Math.abs(together[6]! - together[0]!)).toBeGreaterThan(1e-3);
  });
});

describe("a branching row equals one pass per branch", async () => {
  const session = await openSession(path, HEAD);
  const trunk = rows[1]!;
  // Branch b continues the first `visible` tokens of the trunk; its tokens stand between those of the trunk.
  const branches = [
    { visible: 10, ids: [3, 1, 4] },
    { visible: 77, ids: [1, 5, 9, 2, 6] },
    { visible: 300, ids: [5] },
    { visible: 0, ids: [8, 9] },
  ];

  const tokens: { id: number; branch: number; position: number; visible: number }[] = trunk.map(
    (id, position) => ({ id, branch: 0, position, visible: 0 }),
  );
  for (const [b, { visible, ids }] of branches.entries()) {
    const own = ids.map((id, i) => ({ id, branch: b + 1, position: visible + i, visible }));
    tokens.splice(Math.max(visible, 150), 0, ...own);
  }
  const tree = {
    positions: Int32Array.from(tokens, (t) => t.position),
    branch: Int32Array.from(tokens, (t) => t.branch),
    trunkVisible: Int32Array.from(tokens, (t) => t.visible),
  };
  const ends = branches.map((_, b) => tokens.findLastIndex((t) => t.branch === b + 1));
  const trunkEnd = tokens.findLastIndex((t) => t.branch === 0);
  const batch = { ids: ints([tokens.map((t) => t.id)]), reads: ints([[...ends, trunkEnd]]), tree };

  test("for every branch and the trunk", async () => {
    const packed = await runAll(session, batch);
    for (const [b, { visible, ids }] of branches.entries()) {
      const row = [...trunk.slice(0, visible), ...ids];
      const alone = await runAll(session, { ids: ints([row]), reads: ints([[row.length - 1]]) });
      expectClose(packed.subarray(2 * b, 2 * b + 2), alone, 1e-5);
    }
    const alone = await runAll(session, { ids: ints([trunk]), reads: ints([[trunk.length - 1]]) });
    expectClose(packed.subarray(8, 10), alone, 1e-5);
  });

  test("a plain row with the same tokens gives something else", async () => {
    const packed = await runAll(session, batch);
    const plain = await runAll(session, { ids: batch.ids, reads: batch.reads });
    expect(Math.abs(plain[0]! - packed[0]!)).toBeGreaterThan(1e-3);
  });
});
