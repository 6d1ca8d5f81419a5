import { readdirSync, statSync, truncateSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BLOCK, quantizeRows } from "../../lib/model/quantize.ts";
import { referenceHidden } from "../reference/decoder.ts";
import {
  backbone,
  normal,
  random,
  type TestTensors,
  temporaryFolder,
  writeCheckpoint,
} from "../support/checkpoint.ts";
import { expectClose, expectSameBits } from "../support/compare.ts";
import { applyHead, ints, openSession, runAll } from "../support/model.ts";

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

/** What quantised rows stand for. */
function restore(values: Float32Array, width: number, bits: 4 | 8): Float64Array {
  const { packed, scales } = quantizeRows(values, width, bits);
  const blocks = Math.ceil(width / BLOCK);
  return Float64Array.from(values, (_, i) => {
    const [row, column] = [Math.floor(i / width), i % width];
    const block = row * blocks + Math.floor(column / BLOCK);
    const at = column % BLOCK;
    const byte = packed[(block * BLOCK * bits) / 8 + (bits === 8 ? at : at >> 1)]!;
    const q = bits === 8 ? byte : at % 2 === 0 ? byte & 15 : byte >> 4;
    return scales[block]! * (q - 2 ** (bits - 1));
  });
}

describe("blocks", () => {
  const uniform = random(4);
  for (const bits of [4, 8] as const) {
    test(`of ${bits} bits: the error is at most half a step, a whole one at the far end`, () => {
      const values = Float32Array.from({ length: 5 * 80 }, () => normal(uniform));
      const restored = restore(values, 80, bits);
      const { scales } = quantizeRows(values, 80, bits);
      for (let i = 0; i < values.length; i++) {
        const block = Math.floor(i / 80) * 3 + Math.floor((i % 80) / BLOCK);
        const step = Math.abs(scales[block]!);
        const end = values[i]! / scales[block]! > 2 ** (bits - 1) - 1;
        expect(Math.abs(values[i]! - restored[i]!)).toBeLessThanOrEqual(step * (end ? 1 : 0.5) * 1.000001);
      }
    });

    test(`of ${bits} bits: zeros and whole steps are exact`, () => {
      expectClose(restore(new Float32Array(64), 64, bits), new Float64Array(64), 0);
      const steps = Float32Array.from({ length: 32 }, (_, i) => 0.25 * ((i % 16) - 8));
      expectClose(restore(steps, 32, bits === 4 ? 4 : 8), steps, bits === 4 ? 0 : 1e-7);
    });
  }
});

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
        const values = restore(Float32Array.from(value.values), value.shape[1]!, quantize === "int8" ? 8 : 4);
        changed[name] = { ...value, values };
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

  test("is written once, reused, and written anew when the checkpoint or the file has changed", async () => {
    const first = await runAll(await openSession(path, HEAD, { quantize: "int8" }), BATCH);
    const before = files();
    expect(before.every((name) => name.endsWith(".safetensors"))).toBe(true);
    const cached = join(root, "cache", "quantized", before.find((name) => name.includes("int8"))!);
    const { mtimeMs, size } = statSync(cached);
    await openSession(path, HEAD, { quantize: "int8" });
    expect(statSync(cached).mtimeMs).toBe(mtimeMs);
    truncateSync(cached, 1000);
    expectSameBits(await runAll(await openSession(path, HEAD, { quantize: "int8" }), BATCH), first);
    expect(statSync(cached).size).toBe(size);
    utimesSync(join(path, "model.safetensors"), 1, 1);
    await openSession(path, HEAD, { quantize: "int8" });
    expect(files().length).toBe(before.length + 1);
  });
});
