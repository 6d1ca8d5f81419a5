// Rotary frequencies that depend on a row's length: prefixes of different lengths share no keys.
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createRunner, openCheckpoint } from "../../lib/model/index.ts";
import { families, loadPrm } from "../../lib/prm/index.ts";
import { backbone, temporaryFolder, writeCheckpoint } from "../support/checkpoint.ts";
import { rejection } from "../support/errors.ts";
import { ints } from "../support/model.ts";
import { writeTokenizer } from "../support/tokenizer.ts";

const CONFIG = {
  model_type: "llama",
  vocab_size: 304,
  hidden_size: 32,
  intermediate_size: 40,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  tie_word_embeddings: true,
};
const divisors = { short_factor: [1, 1.1, 1.3, 1.6], long_factor: [1.5, 2, 4, 7] };
const SCALINGS = {
  dynamic: { max_position_embeddings: 100, rope_scaling: { rope_type: "dynamic", factor: 8 } },
  longrope: {
    max_position_embeddings: 800,
    rope_scaling: { rope_type: "longrope", ...divisors, original_max_position_embeddings: 100 },
  },
};
const item = {
  question: "Add 1 to 2 and then 3.",
  steps: ["First we add 1 and 2.", "That gives 3, as is known.", "Then 3 and 3 are 6.", "So it is 6."],
};
const root = await temporaryFolder();

describe.each(Object.entries(SCALINGS))("%s", async (name, scaling) => {
  const config = { ...CONFIG, ...scaling };
  const path = writeCheckpoint(join(root, name), config, backbone(config, "BF16"));
  writeTokenizer(path);
  const options = { convention: families.dreamprm!, threads: 1 };
  const packed = await loadPrm(path, options);
  const separate = await loadPrm(path, { ...options, packed: false });
  afterAll(() => Promise.all([packed.close(), separate.close()]));

  test("the prefixes of a solution score as separate passes do, short and long", async () => {
    const short = { question: "Hi?", steps: ["a", "b"] };
    const [one, few] = await packed.score([item, short]);
    const [other, fewer] = await separate.score([item, short]);
    for (const [a, b] of [[one!, other!] as const, [few!, fewer!] as const]) {
      expect(Math.max(...a.values.map((value, k) => Math.abs(value - b.values[k]!)))).toBeLessThan(1e-5);
    }
    expect(packed.prepare(short).rows).toHaveLength(1);
    expect(packed.prepare(item).rows).toHaveLength(4);
  });

  test("a row that branches beyond the length is refused", async () => {
    const rows = await createRunner(await openCheckpoint(path), { kind: "lm-rows", tokenIds: [1, 2] });
    const size = 120;
    const numbers = (value: (i: number) => number) => Int32Array.from({ length: size }, (_, i) => value(i));
    const last = (i: number) => (i === size - 1 ? 1 : 0);
    const tree = {
      positions: numbers((i) => i),
      branch: numbers(last),
      trunkVisible: numbers((i) => (size - 1) * last(i)),
    };
    const batch = { ids: ints([[...numbers(() => 5)]]), reads: ints([[size - 1]]), tree };
    const found = await rejection(() => rows.run(batch));
    expect(found.message).toMatch(/tree\.positions: expected positions below 100.*position 100, got 100/);
    await rows.close();
  });
});
