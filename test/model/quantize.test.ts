import { execFile } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { type Checkpoint, openCheckpoint } from "../../lib/model/checkpoint.ts";
import { describeDecoder } from "../../lib/model/decoder.ts";
import { quantizedWeights } from "../../lib/model/quantized-cache.ts";
import type { QuantizeProgress } from "../../lib/model/quantized-file.ts";
import { createRunner } from "../../lib/model/runner.ts";
import { referenceHidden } from "../reference/decoder.ts";
import { quantize as quantizeReference, restore } from "../reference/quant.ts";
import {
  backbone,
  safetensors,
  type TestTensors,
  temporaryFolder,
  writeCheckpoint,
} from "../support/checkpoint.ts";
import { expectClose } from "../support/compare.ts";
import { applyHead, ints, openSession, runAll } from "../support/model.ts";

const DIST = join(import.meta.dirname, "..", "..", "dist", "model");
const CONFIG = {
  model_type: "qwen2",
  vocab_size: 60,
  hidden_size: 48,
  intermediate_size: 80,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 64,
};
const HEAD = { kind: "lm-rows", tokenIds: [3, 5, 9] } as const;
const IDS = [5, 8, 17, 4, 59, 0, 33];
const BATCH = { ids: ints([IDS]), reads: ints([[0, 3, 6]]) };

describe("a quantised model", async () => {
  const root = await temporaryFolder();
  process.env.MINFORM_CACHE = join(root, "cache");
  const tensors = backbone(CONFIG, "BF16");
  const path = writeCheckpoint(join(root, "model"), CONFIG, tensors);
  const files = () => readdirSync(join(root, "cache", "quantized"));

  for (const quantize of ["int8", "int4"] as const) {
    test(`${quantize}: computes with exactly the quantised weights`, async () => {
      const session = await openSession(path, HEAD, { quantize });
      const changed: TestTensors = { ...tensors };
      for (const [name, value] of Object.entries(tensors)) {
        if (!/layers.*proj\.weight/.test(name)) continue;
        const [width, bits] = [value.shape[1]!, quantize === "int8" ? 8 : 4] as const;
        const quantized = quantizeReference(Float32Array.from(value.values), width, bits);
        changed[name] = { ...value, values: restore(quantized, value.values.length, width, bits) };
      }
      const hidden = referenceHidden(CONFIG, changed, { ids: IDS });
      const logits = applyHead(hidden, tensors["lm_head.weight"]!);
      const expected = [0, 3, 6].flatMap((t) => HEAD.tokenIds.map((id) => logits[t * 60 + id]!));
      expectClose(await runAll(session, BATCH), expected, 2e-5);
    });
  }

  test("8 bits change the logits less than 4", async () => {
    const exact = await runAll(await openSession(path, HEAD), BATCH);
    const worst = async (quantize: "int8" | "int4") => {
      const values = await runAll(await openSession(path, HEAD, { quantize }), BATCH);
      return Math.max(...values.map((value, i) => Math.abs(value - exact[i]!)));
    };
    const [eight, four] = [await worst("int8"), await worst("int4")];
    expect(eight).toBeGreaterThan(0);
    expect(eight).toBeLessThan(four / 4);
  });

  test("is written once and reused", async () => {
    await openSession(path, HEAD, { quantize: "int8" });
    const before = files();
    expect(before.every((name) => name.endsWith(".safetensors"))).toBe(true);
    const cached = join(root, "cache", "quantized", before.find((name) => name.includes("int8"))!);
    const { ino, mtimeMs } = statSync(cached);
    await openSession(path, HEAD, { quantize: "int8" });
    expect(statSync(cached)).toMatchObject({ ino, mtimeMs });
  });
});

describe("the cache", async () => {
  const root = await temporaryFolder();
  const tensors = backbone(CONFIG, "F16");
  let count = 0;

  /** A checkpoint and a cache of its own. */
  async function fresh(changed = tensors): Promise<{ checkpoint: Checkpoint; cache: string; path: string }> {
    const folder = join(root, String(count++));
    process.env.MINFORM_CACHE = join(folder, "cache");
    const path = writeCheckpoint(join(folder, "model"), CONFIG, changed);
    return { checkpoint: await openCheckpoint(path), cache: join(folder, "cache", "quantized"), path };
  }

  const quantize = (checkpoint: Checkpoint, options = {}) =>
    quantizedWeights(checkpoint, describeDecoder(checkpoint), 8, options);
  const only = (cache: string) => {
    const names = readdirSync(cache);
    expect(names).toHaveLength(1);
    return join(cache, names[0]!);
  };

  const damages: Record<string, (file: string, bytes: Buffer) => void> = {
    "cut short by one byte": (file, bytes) => truncateSync(file, bytes.length - 1),
    "cut inside the header": (file) => truncateSync(file, 100),
    "one byte longer": (file) => appendFileSync(file, "x"),
    empty: (file) => truncateSync(file, 0),
    "with a tensor of another name": (file, bytes) => {
      const text = bytes.toString("latin1").replace("layers.1.mlp.up_proj", "layers.7.mlp.up_proj");
      writeFileSync(file, text, "latin1");
    },
    "with a tensor of another shape": (file, bytes) => {
      const text = bytes.toString("latin1").replace('"shape":[48,2,32]', '"shape":[96,1,32]');
      writeFileSync(file, text, "latin1");
    },
  };
  for (const [name, damage] of Object.entries(damages)) {
    test(`a file ${name} is written anew`, async () => {
      const { checkpoint, cache } = await fresh();
      await quantize(checkpoint);
      const file = only(cache);
      const bytes = readFileSync(file);
      damage(file, bytes);
      expect(readFileSync(file).equals(bytes)).toBe(false);
      await quantize(checkpoint);
      expect(readFileSync(only(cache)).equals(bytes)).toBe(true);
    });
  }

  test("a changed checkpoint gets a file of its own, even with the old size and time", async () => {
    const { checkpoint, cache, path } = await fresh();
    const weights = join(path, "model.safetensors");
    utimesSync(weights, 1, 1);
    await quantize(checkpoint);
    const old = readFileSync(only(cache));
    writeFileSync(weights, safetensors(backbone(CONFIG, "F16", 2)));
    utimesSync(weights, 1, 1);
    await quantize(await openCheckpoint(path));
    const names = readdirSync(cache);
    expect(names).toHaveLength(2);
    expect(names.filter((name) => readFileSync(join(cache, name)).equals(old))).toHaveLength(1);
  });

  test("progress covers the weights, from 0 to the end, and is silent when nothing is written", async () => {
    const { checkpoint } = await fresh();
    const seen: QuantizeProgress[] = [];
    const onProgress = (progress: QuantizeProgress) => seen.push(progress);
    await quantize(checkpoint, { onProgress });
    const total = Object.entries(tensors)
      .filter(([name]) => /layers.*proj.weight/.test(name))
      .reduce((sum, [, { bytes }]) => sum + bytes.length, 0);
    expect(seen[0]).toEqual({ done: 0, total });
    expect(seen.at(-1)).toEqual({ done: total, total });
    expect(seen.map(({ done }) => done)).toEqual(seen.map(({ done }) => done).toSorted((a, b) => a - b));
    const before = seen.length;
    await quantize(checkpoint, { onProgress });
    expect(seen.length).toBe(before);
  });

  test("cancelled on the way, a runner leaves nothing behind; asked again, it loads", async () => {
    const { checkpoint, cache } = await fresh();
    const stop = new AbortController();
    const onQuantize = ({ done }: QuantizeProgress) => done > 0 && stop.abort(new Error("enough"));
    const options = { quantize: "int8", onQuantize, signal: stop.signal } as const;
    await expect(createRunner(checkpoint, HEAD, options)).rejects.toThrow("enough");
    expect(readdirSync(cache)).toEqual([]);
    const runner = await createRunner(checkpoint, HEAD, { quantize: "int8" });
    expect(await runner.run(BATCH)).toHaveLength(9);
    await runner.close();
    only(cache);
  });

  test("several writers at once end with one good file", async () => {
    const { checkpoint, cache } = await fresh();
    await quantize(checkpoint);
    const good = readFileSync(only(cache));
    rmSync(only(cache));
    const script = `
      import { openCheckpoint } from ${JSON.stringify(join(DIST, "checkpoint.js"))};
      import { describeDecoder } from ${JSON.stringify(join(DIST, "decoder.js"))};
      import { quantizedWeights } from ${JSON.stringify(join(DIST, "quantized-cache.js"))};
      const checkpoint = await openCheckpoint(${JSON.stringify(checkpoint.path)});
      await quantizedWeights(checkpoint, describeDecoder(checkpoint), 8);`;
    const other = promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    await Promise.all([other, quantize(checkpoint), quantize(checkpoint)]);
    expect(readFileSync(only(cache)).equals(good)).toBe(true);
  });

  test("what a killed writer left is removed once it is old", async () => {
    const { checkpoint, cache } = await fresh();
    mkdirSync(cache, { recursive: true });
    const [dead, alive] = ["a.safetensors.123.0123abcd", "b.safetensors.124.0123abcd"];
    for (const name of [dead, alive]) writeFileSync(join(cache, name), "partial");
    utimesSync(join(cache, dead), 1, 1);
    await quantize(checkpoint);
    expect(readdirSync(cache)).not.toContain(dead);
    expect(readdirSync(cache)).toContain(alive);
  });

  test("a weight that is not finite is an error that names tensor, row and column", async () => {
    const name = "model.layers.1.mlp.down_proj.weight";
    const bytes = tensors[name]!.bytes.slice();
    new Uint16Array(bytes.buffer)[3 * 80 + 5] = 0x7e00;
    const { checkpoint, cache } = await fresh({ ...tensors, [name]: { ...tensors[name]!, bytes } });
    await expect(quantize(checkpoint)).rejects.toMatchObject({
      code: "ERR_NOT_FINITE",
      message: expect.stringMatching(new RegExp(`tensor ${name}: .* in row 3, column 5$`)),
    });
    expect(readdirSync(cache)).toEqual([]);
  });

  test("a folder that cannot be made is an error that names MINFORM_CACHE", async () => {
    const { checkpoint, path } = await fresh();
    process.env.MINFORM_CACHE = join(path, "config.json");
    await expect(quantize(checkpoint)).rejects.toMatchObject({
      code: "ERR_INPUT",
      message: expect.stringContaining("MINFORM_CACHE"),
    });
  });
});
