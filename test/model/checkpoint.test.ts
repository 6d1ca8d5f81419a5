import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { openCheckpoint } from "../../lib/model/checkpoint.ts";
import { readTensorBytes } from "../../lib/model/safetensors.ts";
import {
  backbone,
  frame,
  safetensors,
  shardName,
  temporaryFolder,
  writeCheckpoint,
  writeSparse,
} from "../support/checkpoint.ts";
import { expectClose, expectSameBits } from "../support/compare.ts";
import { rejection } from "../support/errors.ts";
import { ints, openSession, runAll } from "../support/model.ts";

const CONFIG = {
  model_type: "llama",
  architectures: ["LlamaForCausalLM"],
  vocab_size: 19,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  max_position_embeddings: 64,
};
const tensors = backbone(CONFIG, "BF16");
const HEAD = { kind: "lm-rows", tokenIds: [3, 5] } as const;
const BATCH = { ids: ints([[1, 2, 3, 4]]), reads: ints([[1, 3]]) };

let root = "";
let expected = new Float32Array();
let counter = 0;
const fresh = () => join(root, `c${counter++}`);

async function values(path: string): Promise<Float32Array> {
  return runAll(await openSession(path, HEAD), BATCH);
}

beforeAll(async () => {
  root = await temporaryFolder();
  expected = (await values(writeCheckpoint(fresh(), CONFIG, tensors))) as Float32Array<ArrayBuffer>;
});

describe("where weights may lie", () => {
  test("shards", async () => {
    expectSameBits(await values(writeCheckpoint(fresh(), CONFIG, tensors, 3)), expected);
  });

  test("a folder of links into another, as the hub's cache has", async () => {
    const blobs = join(root, "cache", "blobs");
    mkdirSync(blobs, { recursive: true });
    const real = writeCheckpoint(fresh(), CONFIG, tensors, 2);
    const snapshot = join(root, "cache", "snapshots", "abc");
    mkdirSync(snapshot, { recursive: true });
    const names = ["config.json", "model.safetensors.index.json", shardName(0, 2), shardName(1, 2)];
    for (const name of names) symlinkSync(join(real, name), join(snapshot, name));
    expectSameBits(await values(snapshot), expected);
  });

  test("shards whose links lead to different folders", async () => {
    const [a, b] = [1, 2].map(() => writeCheckpoint(fresh(), CONFIG, tensors, 2));
    const mixed = fresh();
    mkdirSync(mixed);
    symlinkSync(join(a!, "config.json"), join(mixed, "config.json"));
    symlinkSync(join(a!, "model.safetensors.index.json"), join(mixed, "model.safetensors.index.json"));
    symlinkSync(join(a!, shardName(0, 2)), join(mixed, shardName(0, 2)));
    symlinkSync(join(b!, shardName(1, 2)), join(mixed, shardName(1, 2)));
    expectSameBits(await values(mixed), expected);
  });

  test("a read-only folder", async () => {
    const path = writeCheckpoint(fresh(), CONFIG, tensors);
    chmodSync(join(path, "model.safetensors"), 0o444);
    chmodSync(path, 0o555);
    expectSameBits(await values(path), expected);
    chmodSync(path, 0o755);
  });

  test("behind 4 GiB of a shard", async () => {
    const path = writeCheckpoint(fresh(), CONFIG, tensors);
    writeSparse(join(path, "model.safetensors"), tensors, 2 ** 32 + 6);
    expectSameBits(await values(path), expected);
  });

  test("at any byte offset", async () => {
    for (const padding of [1, 2, 3]) {
      const path = writeCheckpoint(fresh(), CONFIG, tensors);
      writeSparse(join(path, "model.safetensors"), tensors, padding);
      expectSameBits(await values(path), expected);
    }
  });

  test("under another prefix", async () => {
    const renamed = Object.fromEntries(
      Object.entries(tensors).map(([name, value]) => [`pretrained_model.${name}`, value]),
    );
    expectSameBits(await values(writeCheckpoint(fresh(), CONFIG, renamed)), expected);
  });

  test("mixed types", async () => {
    const f32 = backbone(CONFIG, "F32");
    const path = writeCheckpoint(fresh(), CONFIG, { ...f32, ...pick(/proj|embed/) });
    const close = await values(path);
    expect(close.every((v, i) => Math.abs(v - expected[i]!) < 0.2)).toBe(true);
    expect(close.some((v, i) => v !== expected[i])).toBe(true);
  });

  test("bytes of a tensor are those of the file", async () => {
    const { tensors: entries } = await openCheckpoint(writeCheckpoint(fresh(), CONFIG, tensors, 2));
    for (const [name, { bytes }] of Object.entries(tensors)) {
      expectClose(await readTensorBytes(entries.get(name)!), bytes, 0);
    }
  });
});

function pick(pattern: RegExp) {
  return Object.fromEntries(Object.entries(tensors).filter(([name]) => pattern.test(name)));
}

describe("broken files are refused quickly, by name", () => {
  const NAME = "model.layers.1.mlp.up_proj.weight";
  const spoil =
    (edit: Parameters<typeof safetensors>[1]) =>
    (path: string): void =>
      writeFileSync(join(path, "model.safetensors"), safetensors(tensors, edit));
  const write = (bytes: Uint8Array) => (path: string) =>
    writeFileSync(join(path, "model.safetensors"), bytes);
  const offsets = (change: (begin: number, end: number) => [number, number]) =>
    spoil((header) => {
      const [begin, end] = header[NAME]!.data_offsets as [number, number];
      header[NAME]!.data_offsets = change(begin, end);
    });
  const whole = safetensors(tensors);
  const hugeHeader = Buffer.from(whole);
  hugeHeader.writeBigUInt64LE(2n ** 63n);

  const entry = '"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}';
  const cases: Record<string, [spoil: (path: string) => void, message: RegExp]> = {
    "a header that is not UTF-8": [
      write(frame(Buffer.from(`{${entry}}`.replace("a", "\u00ff"), "latin1"), new Uint8Array(4))),
      /not UTF-8/,
    ],
    "a tensor that is named twice": [
      write(frame(`{${entry},${entry}}`, new Uint8Array(4))),
      /twice: 2 entries/,
    ],
    "a header of 17 MB": [write(frame(" ".repeat(17_000_000))), /has a header of 17000000 bytes/],
    "a header of a million keys": [
      write(frame(`{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":0`).join(",")}}`)),
      /999999 separators/,
    ],
    "a header of nested lists": [write(frame("[".repeat(10_000_000))), /depth 10000000/],
    "a folder": [
      (path) => {
        rmSync(join(path, "model.safetensors"));
        mkdirSync(join(path, "model.safetensors"));
      },
      /model\.safetensors: cannot be opened: not a file/,
    ],
    "a pipe": [
      (path) => {
        rmSync(join(path, "model.safetensors"));
        execFileSync("mkfifo", [join(path, "model.safetensors")]);
      },
      /model\.safetensors: cannot be opened: not a file/,
    ],
    "an empty file": [write(new Uint8Array()), /model\.safetensors: ends at byte 0/],
    "a header longer than the file": [write(hugeHeader), /states a header of 9223372036854775808 bytes/],
    "a truncated file": [write(whole.subarray(0, whole.length - 100)), /ends at byte/],
    "bytes after the last tensor": [write(Buffer.concat([whole, Buffer.alloc(8)])), /accounts for/],
    "a header that is not JSON": [write(frame("{")), /not JSON/],
    "a header that is a list": [write(frame("[]")), /not an object/],
    "an unknown dtype": [spoil((h) => Object.assign(h[NAME]!, { dtype: "Q7" })), /up_proj.*unknown dtype Q7/],
    "a shape that does not fit its bytes": [
      spoil((h) => Object.assign(h[NAME]!, { shape: [24, 17] })),
      /up_proj.*takes 816 bytes, its offsets span 768/,
    ],
    "a shape of huge numbers": [
      spoil((h) => Object.assign(h[NAME]!, { shape: [2 ** 40, 2 ** 40] })),
      /up_proj.*takes/,
    ],
    "a negative size": [
      spoil((h) => Object.assign(h[NAME]!, { shape: [-24, -16] })),
      /up_proj.*expected dtype/,
    ],
    "overlapping tensors": [offsets((begin, end) => [begin - 2, end - 2]), /overlaps/],
    "a gap before the first tensor": [
      (path) => {
        let header = "";
        safetensors(tensors, (h) => {
          for (const { data_offsets: at } of Object.values(h) as { data_offsets?: number[] }[]) {
            if (at) for (const k of [0, 1]) at[k]! += 2;
          }
          header = JSON.stringify(h);
        });
        write(frame(header, new Uint8Array(2), ...Object.values(tensors).map(({ bytes }) => bytes)))(path);
      },
      /leaves a gap/,
    ],
    "offsets outside the file": [
      offsets((begin, end) => [begin + 2 ** 40, end + 2 ** 40]),
      /gap|ends at byte/,
    ],
    "offsets that run backwards": [offsets((begin, end) => [end, begin]), /span/],
  };
  for (const [name, [damage, message]] of Object.entries(cases)) {
    test(name, async () => {
      const path = writeCheckpoint(fresh(), CONFIG, tensors);
      damage(path);
      const started = performance.now();
      const found = await rejection(() => openCheckpoint(path));
      expect(found.code).toBe("ERR_INPUT");
      expect(found.message).toMatch(message);
      expect(performance.now() - started).toBeLessThan(2000);
    });
  }

  test("a file that shrinks after it was opened", async () => {
    const path = writeCheckpoint(fresh(), CONFIG, tensors);
    const checkpoint = await openCheckpoint(path);
    truncateSync(join(path, "model.safetensors"), 4000);
    const entry = checkpoint.tensors.get("lm_head.weight")!;
    expect(await rejection(() => readTensorBytes(entry))).toMatchObject({ code: "ERR_INPUT" });
  });
});

describe("broken folders are refused, by name", () => {
  const index = (map: unknown) => JSON.stringify({ weight_map: map });
  const sharded = () => writeCheckpoint(fresh(), CONFIG, tensors, 2);
  const indexFile = "model.safetensors.index.json";

  test.each([
    "../outside.safetensors",
    "/etc/passwd",
    "a/../../x.safetensors",
    "..",
    "",
    7,
    "..\\x.safetensors",
  ])("an index that names %j", async (shard) => {
    const path = sharded();
    writeFileSync(join(path, indexFile), index({ "lm_head.weight": shard }));
    const found = await rejection(() => openCheckpoint(path));
    expect(found).toMatchObject({ code: "ERR_INPUT" });
    expect(found.message).toContain("expected a file inside the folder");
  });

  test("a missing shard", async () => {
    const path = sharded();
    rmSync(join(path, shardName(1, 2)));
    const found = await rejection(() => openCheckpoint(path));
    expect(found.code).toBe("ERR_INPUT");
    expect(found.message).toMatch(/model-00002-of-00002\.safetensors: missing shard/);
  });

  test("a tensor that is not in its shard", async () => {
    const path = sharded();
    writeFileSync(join(path, indexFile), index({ "no.such": shardName(0, 2) }));
    expect((await rejection(() => openCheckpoint(path))).message).toMatch(/expected tensor no\.such/);
  });

  test.each([["[]"], ["{}"], ['{"weight_map":{}}'], ["{"]])("an index that reads %s", async (text) => {
    const path = sharded();
    writeFileSync(join(path, indexFile), text);
    expect(await rejection(() => openCheckpoint(path))).toMatchObject({ code: "ERR_INPUT" });
  });

  test("no weights, or pickled ones", async () => {
    const path = writeCheckpoint(fresh(), CONFIG, tensors);
    rmSync(join(path, "model.safetensors"));
    expect((await rejection(() => openCheckpoint(path))).message).toMatch(/expected model\.safetensors/);
    writeFileSync(join(path, "pytorch_model.bin"), "");
    expect((await rejection(() => openCheckpoint(path))).message).toMatch(/pickle/);
  });

  test("no folder, a file, no config", async () => {
    const path = writeCheckpoint(fresh(), CONFIG, tensors);
    expect((await rejection(() => openCheckpoint(join(path, "no")))).message).toMatch(/no such folder/);
    const file = join(path, "config.json");
    expect((await rejection(() => openCheckpoint(file))).message).toMatch(/not a folder/);
    rmSync(file);
    expect((await rejection(() => openCheckpoint(path))).message).toMatch(/config\.json: cannot be read/);
  });

  const missing: Record<string, [change: (t: Record<string, unknown>) => void, message: RegExp]> = {
    "a missing tensor": [
      (t) => delete t["model.layers.0.mlp.up_proj.weight"],
      /expected tensor model\.layers\.0\.mlp\.up_proj\.weight \[24,16\], found none/,
    ],
    "no embedding": [(t) => delete t["model.embed_tokens.weight"], /embed_tokens\.weight .*found none/],
    "a tensor of another shape": [
      (t) => {
        t["model.norm.weight"] = tensors["model.layers.0.self_attn.k_proj.weight"];
      },
      /model\.norm\.weight: expected \[16\], got \[8,16\]/,
    ],
    "a tensor that has no part in the layer": [
      (t) => {
        t["model.layers.0.self_attn.q_proj.lora_A.weight"] = tensors["model.norm.weight"];
      },
      /lora_A\.weight has no part in a llama layer/,
    ],
  };
  for (const [name, [change, message]] of Object.entries(missing)) {
    test(name, async () => {
      const changed = { ...tensors };
      change(changed);
      const path = writeCheckpoint(fresh(), CONFIG, changed);
      const found = await rejection(() => openSession(path, HEAD));
      expect(found.code).toBe("ERR_INPUT");
      expect(found.message).toMatch(message);
    });
  }
});
