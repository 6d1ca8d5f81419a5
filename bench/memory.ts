// Anonymous memory of a model, in a process of its own: `node memory.js FOLDER OPTIONS TOKENS` prints the bytes above
// what the process had before the model was loaded.
import { execFile } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { createRunner, openCheckpoint, type RunnerOptions } from "../lib/model/index.ts";

/** Peak in bytes over loading and a pass of so many tokens; undefined where the system does not tell (not Linux). */
export async function peakMemory(
  folder: string,
  options: RunnerOptions,
  tokens: number,
): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  const script = fileURLToPath(import.meta.url);
  const args = [script, folder, JSON.stringify(options), String(tokens)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
}

// In a thread of its own: the model's thread is busy, and so may the main one be.
const SAMPLER = `
  const { parentPort } = require("node:worker_threads");
  const { readFileSync } = require("node:fs");
  const sample = () => readFileSync("/proc/self/status", "utf8").match(/RssAnon:\\s+(\\d+)/)[1] * 1024;
  let peak = 0;
  setInterval(() => { peak = Math.max(peak, sample()); }, 2);
  parentPort.on("message", () => { parentPort.postMessage(Math.max(peak, sample())); peak = 0; });`;

async function measure(folder: string, options: RunnerOptions, tokens: number): Promise<number> {
  const sampler = new Worker(SAMPLER, { eval: true, execArgv: [] });
  const peakSinceLast = () =>
    new Promise<number>((resolve) => {
      sampler.once("message", resolve);
      sampler.postMessage("");
    });
  const checkpoint = await openCheckpoint(folder);
  // Written before, so that the peak is that of a model which finds its quantised weights.
  if (options.quantize)
    await (await createRunner(checkpoint, { kind: "token-classification", classes: 2 }, options)).close();
  await wait(200);
  await peakSinceLast();
  await wait(50);
  const before = await peakSinceLast();
  const runner = await createRunner(checkpoint, { kind: "token-classification", classes: 2 }, options);
  const offsets = Int32Array.of(0, tokens);
  const batch = {
    ids: { data: new Int32Array(tokens).fill(3), offsets },
    reads: { data: Int32Array.of(tokens - 1), offsets: Int32Array.of(0, 1) },
  };
  await runner.run(batch);
  const peak = await peakSinceLast();
  await runner.close();
  await sampler.terminate();
  return peak - before;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, options, tokens] = process.argv.slice(2) as [string, string, string];
  console.log(await measure(folder, JSON.parse(options), Number(tokens)));
}
