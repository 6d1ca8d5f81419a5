import { createRequire } from "node:module";
import { cpus, freemem, totalmem } from "node:os";
import type { Command } from "commander";
import { capabilities, cudaInfo } from "../device.ts";
import type { FoundHead } from "../model/index.ts";
import { positive } from "./prm-options.ts";

interface Flags {
  model?: string;
  batchTokens?: number;
  json?: boolean;
}

/** @internal Adds `minform doctor`. */
export function register(program: Command): void {
  program
    .command("doctor")
    .description("versions, instruction set, providers, and what a checkpoint needs")
    .option("--model <dir|id>", "checkpoint folder or hub id")
    .option("--batch-tokens <n>", "tokens per batch that memory is estimated for", positive)
    .option("--json", "as JSON")
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const report: Record<string, unknown> = {
    versions: versions(),
    machine: machine(),
    addon: attempt(() => capabilities()),
    cuda: attempt(() => cudaInfo()),
    runtime: await runtime(),
  };
  if (flags.model !== undefined) report.checkpoint = await checkpoint(flags.model, flags.batchTokens);
  process.stdout.write(flags.json ? `${JSON.stringify(report, null, 2)}\n` : `${plain(report)}\n`);
}

const require = createRequire(import.meta.url);

function packageVersion(name: string): string {
  try {
    return (require(`${name}/package.json`) as { version: string }).version;
  } catch {
    return "not found";
  }
}

function versions(): Record<string, string> {
  return {
    minform: (require("../../package.json") as { version: string }).version,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    "onnxruntime-node": packageVersion("onnxruntime-node"),
  };
}

function machine(): Record<string, string | number> {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memory: bytes(totalmem()),
    free: bytes(freemem()),
  };
}

async function runtime(): Promise<unknown> {
  try {
    const ort = (await import("onnxruntime-node")) as unknown as {
      listSupportedBackends?: () => { name: string }[];
    };
    return { providers: ort.listSupportedBackends?.().map(({ name }) => name) ?? ["cpu"] };
  } catch (error) {
    return { problem: `onnxruntime-node cannot be loaded: ${(error as Error).message}` };
  }
}

async function checkpoint(source: string, batchTokens: number | undefined): Promise<unknown> {
  const { detectHeads, openCheckpoint } = await import("../model/index.ts");
  const { estimateMemory } = await import("../prm/memory.ts");
  const opened = await openCheckpoint(source);
  const heads = detectHeads(opened);
  const memory = estimateMemory(opened, batchTokens);
  const types = new Set([...opened.tensors.values()].map(({ type }) => type));
  const need = memory.inPlace + memory.file;
  return {
    path: opened.path,
    architecture: opened.config.architecture,
    layers: opened.config.layers,
    context: opened.config.maxLength,
    types: [...types],
    heads: heads.map((head) => ("classes" in head ? `${head.kind} (${head.classes})` : head.kind)),
    parameters: memory.parameters,
    convention: await convention(source, opened, heads),
    memory: {
      "weights in their files": bytes(memory.file),
      "anonymous, in place": bytes(memory.inPlace),
      "anonymous, float32": bytes(memory.float32),
      "layers as int8, in the cache": bytes(memory.int8),
      "layers as int4, in the cache": bytes(memory.int4),
    },
    fits: need <= totalmem() ? "yes, in place" : "in place, with weights read from disk again and again",
  };
}

async function convention(
  source: string,
  opened: { path: string },
  heads: readonly FoundHead[],
): Promise<string> {
  const { loadTokenizer } = await import("../model/index.ts");
  const { detectConvention } = await import("../prm/detect.ts");
  try {
    const found = detectConvention({ source, heads, tokenizer: await loadTokenizer(opened) });
    return `${found.convention.name} (${found.because})`;
  } catch (error) {
    return (error as Error).message;
  }
}

function attempt(get: () => unknown): unknown {
  try {
    return get();
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function bytes(count: number): string {
  return count >= 2 ** 30 ? `${(count / 2 ** 30).toFixed(1)} GiB` : `${(count / 2 ** 20).toFixed(1)} MiB`;
}

function plain(value: unknown, indent = ""): string {
  return Object.entries(value as Record<string, unknown>)
    .map(([name, entry]) =>
      entry !== null && typeof entry === "object" && !Array.isArray(entry)
        ? `${indent}${name}\n${plain(entry, `${indent}  `)}`
        : `${indent}${name}: ${Array.isArray(entry) ? entry.join(", ") : String(entry)}`,
    )
    .join("\n");
}
