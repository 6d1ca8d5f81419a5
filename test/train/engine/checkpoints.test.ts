// The engine beside the inference graph of lib/model on the same files, and what it saves.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Head, openCheckpoint } from "../../../lib/model/index.ts";
import {
  type EngineHeads,
  createModel,
  loadModel,
  readConfig,
  saveModel,
} from "../../../lib/train/engine/index.ts";
import { backbone, tensor, temporaryFolder, random, writeCheckpoint } from "../../support/checkpoint.ts";
import { sharedPath } from "../../support/checkpoints.ts";
import { expectSameBits } from "../../support/compare.ts";
import { ints, openSession, runAll } from "../../support/model.ts";

const folder = await temporaryFolder();
const BOUND = 1e-4; // relative to max(1, |value|), on logits and log-probs

interface Place {
  name: string;
  path: string;
  heads: EngineHeads;
  head: Head;
}

const SHARED: [name: string, heads: EngineHeads, head: Head][] = [
  ["pure-prm-tiny", { classifier: { classes: 2 } }, { kind: "token-classification", classes: 2 }],
  ["qwen-prm-tiny", { classifier: { classes: 2, width: 32 } }, { kind: "mlp", classes: 2 }],
  ["shepherd-tiny", { lm: true }, { kind: "lm" }],
  ["dreamprm-tiny", { lm: true }, { kind: "lm" }],
];

const own = {
  ...sizes("qwen3"),
  head_dim: 12,
  use_sliding_window: true,
  sliding_window: 5,
  max_window_layers: 1,
};
const ownTensors = backbone(own, "BF16");
ownTensors["v_head.summary.weight"] = tensor(random(9), "F32", [1, 24], 0.2);
ownTensors["v_head.summary.bias"] = tensor(random(8), "F32", [1], 0.2);

function sizes(model_type: string) {
  return {
    model_type,
    vocab_size: 40,
    hidden_size: 24,
    intermediate_size: 36,
    num_hidden_layers: 3,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    max_position_embeddings: 64,
    rope_theta: 1000,
    architectures: ["AnyForCausalLM"],
  };
}

const places: Place[] = [
  {
    name: "a written Qwen3",
    path: writeCheckpoint(join(folder, "own"), own, ownTensors),
    heads: { lm: true },
    head: { kind: "lm" },
  },
  ...SHARED.flatMap(([name, heads, head]) => {
    const path = sharedPath("checkpoints", name);
    return path === undefined ? [] : [{ name, path, heads, head }];
  }),
];

describe.each(places)("$name", ({ path, heads, head }) => {
  test("agrees with the inference graph", async () => {
    const checkpoint = await openCheckpoint(path);
    const model = await loadModel(checkpoint, { heads });
    const vocabulary = Math.min(checkpoint.config.vocabSize, 5000);
    const rows = [40, 1, 17].map((n, row) =>
      Array.from({ length: n }, (_, i) => (i * 97 + row * 31 + 5) % vocabulary),
    );
    const reads = rows.map((row) => row.map((_, i) => i));
    const targets = ints(rows.map((row) => row.map((id) => (id * 3 + 1) % vocabulary)));
    const session = await openSession(path, head);
    const batch = { ids: ints(rows), reads: ints(reads), ...(head.kind === "lm" ? { targets } : {}) };
    const expected = await runAll(session, batch);
    const pass = await model.forward(batch.ids, { keep: "nothing" });
    const all = batch.ids.data.map((_, i) => i);
    const actual =
      head.kind === "lm"
        ? (await pass.logProbs(all, targets.data)).logProbs
        : await pass.readout("classifier", all);
    expect(actual.length).toBe(expected.length);
    for (const [i, value] of expected.entries()) {
      expect(Math.abs(actual[i]! - value) / Math.max(1, Math.abs(value))).toBeLessThan(BOUND);
    }
  });
});

describe("saving", () => {
  const heads = { lm: true, value: true };

  test("what was saved loads again with the same bits, and names and shapes are those of the file before", async () => {
    const checkpoint = await openCheckpoint(join(folder, "own"));
    const model = await loadModel(checkpoint, { heads });
    writeFileSync(join(folder, "own", "tokenizer.json"), "{}");
    const to = join(folder, "saved");
    await saveModel(model, to, { config: await readConfig(checkpoint), tokenizerFrom: join(folder, "own") });
    const saved = await openCheckpoint(to);
    const shapes = (from: typeof checkpoint) =>
      [...from.tensors].map(([name, { shape }]) => `${name} ${shape}`).sort();
    expect(shapes(saved)).toEqual(shapes(checkpoint));
    expect([...saved.tensors.values()].every(({ type }) => type === "float32")).toBe(true);
    expect(JSON.parse(readFileSync(join(to, "config.json"), "utf8"))).toMatchObject({
      architectures: ["Qwen3ForCausalLM"],
      dtype: "float32",
      rope_theta: 1000,
    });
    expect(readdirSync(to).sort()).toEqual(["config.json", "model.safetensors", "tokenizer.json"]);
    const again = await loadModel(saved, { heads });
    for (const [name, { data }] of model.parameters) expectSameBits(again.parameters.get(name)!.data, data);
  });

  test("a config of another model is an error that names the key", async () => {
    const model = createModel(sizes("qwen2"), { heads: { lm: true } });
    const to = join(folder, "other");
    for (const [more, message] of [
      [{ hidden_size: 48 }, /config\.json: expected the config of the model: hiddenSize is 24, .* says 48/],
      [{ rope_theta: 10000 }, /rope\.theta is 1000, the config says 10000/],
      [{ model_type: "llama" }, /family is "qwen2", the config says "llama"/],
    ] as const) {
      const config = { ...sizes("qwen2"), ...more };
      await expect(saveModel(model, to, { config })).rejects.toThrow(message);
    }
    expect(existsSync(to)).toBe(false);
  });

  test("a config that does not say how many key heads there are is saved with their number", async () => {
    const { num_key_value_heads: _, ...config } = sizes("qwen2");
    const to = join(folder, "key-heads");
    await saveModel(createModel(config, { heads: { lm: true } }), to, { config });
    const saved = JSON.parse(readFileSync(join(to, "config.json"), "utf8"));
    expect(saved.num_key_value_heads).toBe(4);
  });

  test("a head that is not stored starts fresh, an LM head that is not stored is an error", async () => {
    const { "lm_head.weight": _, ...rest } = ownTensors;
    const path = writeCheckpoint(join(folder, "headless"), own, rest);
    const checkpoint = await openCheckpoint(path);
    const model = await loadModel(checkpoint, { heads: { classifier: { classes: 2 } }, seed: 4 });
    expect(Math.hypot(...model.parameters.get("score.weight")!.data)).toBeGreaterThan(0.1);
    await expect(loadModel(checkpoint, { heads: { lm: true } })).rejects.toThrow(
      /lm_head\.weight, found none/,
    );
  });
});

test("from scratch: same seed, same bits; deviations as stated", () => {
  const make = (seed: number) => createModel(sizes("llama"), { heads: { lm: true }, seed });
  const [model, same, other] = [make(1), make(1), make(2)];
  const deviation = (name: string) => {
    const { data } = model.parameters.get(name)!;
    return Math.hypot(...data) / Math.sqrt(data.length);
  };
  expectSameBits(same.parameters.get("lm_head.weight")!.data, model.parameters.get("lm_head.weight")!.data);
  expect(other.parameters.get("lm_head.weight")!.data).not.toEqual(
    model.parameters.get("lm_head.weight")!.data,
  );
  expect(deviation("model.embed_tokens.weight")).toBeCloseTo(0.02, 2);
  expect(deviation("model.layers.1.mlp.up_proj.weight") * Math.sqrt(24)).toBeCloseTo(1, 0);
  expect(deviation("model.layers.1.mlp.down_proj.weight") * Math.sqrt(36 * 6)).toBeCloseTo(1, 0);
});
