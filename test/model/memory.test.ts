import { execFile } from "node:child_process";
import { existsSync, mkdirSync, openSync, ftruncateSync, closeSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { frame, temporaryFolder } from "../support/checkpoint.ts";

const dist = join(import.meta.dirname, "..", "..", "dist", "model");
const CONFIG = {
  model_type: "llama",
  vocab_size: 2000,
  hidden_size: 1024,
  intermediate_size: 4096,
  num_hidden_layers: 8,
  num_attention_heads: 8,
  num_key_value_heads: 8,
  max_position_embeddings: 256,
};

// Weights of zeros without the disk space: the runtime maps and converts them like any others.
function writeZeros(folder: string): number {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify(CONFIG));
  const { hidden_size: h, intermediate_size: inner } = CONFIG;
  const shapes: Record<string, number[]> = {
    "model.embed_tokens.weight": [CONFIG.vocab_size, h],
    "model.norm.weight": [h],
    "score.weight": [2, h],
  };
  for (let layer = 0; layer < CONFIG.num_hidden_layers; layer++) {
    const at = `model.layers.${layer}`;
    for (const name of ["q", "k", "v", "o"]) shapes[`${at}.self_attn.${name}_proj.weight`] = [h, h];
    for (const name of ["gate", "up"]) shapes[`${at}.mlp.${name}_proj.weight`] = [inner, h];
    shapes[`${at}.mlp.down_proj.weight`] = [h, inner];
    for (const name of ["input", "post_attention"]) shapes[`${at}.${name}_layernorm.weight`] = [h];
  }
  const header: Record<string, unknown> = {};
  let offset = 0;
  for (const [name, shape] of Object.entries(shapes)) {
    const end = offset + 2 * shape.reduce((product, n) => product * n, 1);
    header[name] = { dtype: "BF16", shape, data_offsets: [offset, end] };
    offset = end;
  }
  const start = frame(JSON.stringify(header));
  const handle = openSync(join(folder, "model.safetensors"), "w");
  writeSync(handle, start);
  ftruncateSync(handle, start.length + offset);
  closeSync(handle);
  return offset;
}

describe.runIf(process.platform === "linux" && existsSync(dist))("memory", async () => {
  const folder = join(await temporaryFolder(), "zeros");
  const weights = writeZeros(folder);

  // Anonymous memory above what the process had before the model, sampled by a second thread.
  async function peak(mode: string): Promise<{ before: number; peak: number }> {
    const script = `
      import { readFileSync } from "node:fs";
      import { Worker } from "node:worker_threads";
      import { openCheckpoint } from ${JSON.stringify(join(dist, "checkpoint.js"))};
      import { ModelSession } from ${JSON.stringify(join(dist, "session.js"))};
      const sample = 'require("fs").readFileSync("/proc/self/status", "utf8").match(/RssAnon:\\\\s+(\\\\d+)/)[1] * 1024';
      const watch = new Worker('const { parentPort } = require("worker_threads"); let peak = 0;' +
        'setInterval(() => { peak = Math.max(peak, ' + sample + '); }, 2);' +
        'parentPort.on("message", () => { parentPort.postMessage(peak); peak = 0; });', { eval: true, execArgv: [] });
      const ask = () => new Promise((resolve) => { watch.once("message", resolve); watch.postMessage(0); });
      const checkpoint = await openCheckpoint(${JSON.stringify(folder)});
      await new Promise((resolve) => setTimeout(resolve, 300));
      const before = await ask();
      const head = { kind: "token-classification", classes: 2 };
      const session = await ModelSession.create({ checkpoint, head, threads: 2, weights: ${JSON.stringify(mode)} });
      const batch = { ids: { data: new Int32Array(64).fill(3), offsets: Int32Array.of(0, 64) },
        reads: { data: Int32Array.of(63), offsets: Int32Array.of(0, 1) } };
      for (let i = 0; i < 3; i++) await session.run(batch, 0, 1);
      console.log(JSON.stringify({ before, peak: await ask() }));
      process.exit(0);`;
    const flags = ["--input-type=module", "-e", script];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { timeout: 60000 });
    return JSON.parse(stdout);
  }

  test("weights in place take less than a quarter of their size", async () => {
    const { before, peak: highest } = await peak("in-place");
    expect(highest - before).toBeGreaterThan(0);
    expect(highest - before).toBeLessThan(weights / 4);
  });

  test("converted weights take twice their size: the measurement sees it", async () => {
    const { before, peak: highest } = await peak("float32");
    expect(highest - before).toBeGreaterThan(1.8 * weights);
  });
});
