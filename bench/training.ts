/**
 * `npm run bench:training [-- NAME...]`
 *
 * What training costs, by model: tokens per second trained and written, where the time of a step goes, and the peak of
 * the process's memory. Every model has a process of its own; weights are random.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { textTable } from "../lib/cli/text-table.ts";
import { ARITHMETIC_MODEL } from "../lib/train/arithmetic/checkpoint.ts";
import { createModel, Optimizer } from "../lib/train/engine/index.ts";

interface Setting {
  readonly shape: Record<string, unknown>;
  readonly rows: number;
  readonly length: number;
  readonly prompt: number;
  readonly written: number;
  readonly rounds: number;
}

const SETTINGS: Readonly<Record<string, Setting>> = {
  embedded: {
    shape: ARITHMETIC_MODEL,
    rows: 128,
    length: 33,
    prompt: 9,
    written: 24,
    rounds: 20,
  },
  digits: {
    shape: {
      model_type: "llama",
      max_position_embeddings: 2048,
      tie_word_embeddings: false,
      hidden_size: 128,
      intermediate_size: 344,
      num_hidden_layers: 4,
      num_attention_heads: 4,
      vocab_size: 16,
    },
    rows: 400,
    length: 28,
    prompt: 8,
    written: 20,
    rounds: 5,
  },
  "0.5B": {
    shape: {
      model_type: "qwen2",
      max_position_embeddings: 4096,
      tie_word_embeddings: true,
      hidden_size: 896,
      intermediate_size: 4864,
      num_hidden_layers: 24,
      num_attention_heads: 14,
      num_key_value_heads: 2,
      vocab_size: 151936,
    },
    rows: 4,
    length: 256,
    prompt: 64,
    written: 32,
    rounds: 1,
  },
};

if (process.argv[2] === "--measure") await measure(SETTINGS[process.argv[3]!]!);
else await compare(process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SETTINGS));

async function compare(names: readonly string[]): Promise<void> {
  const rows: string[][] = [];
  for (const name of names) {
    if (!(name in SETTINGS)) {
      console.error(`NAME: expected one of ${Object.keys(SETTINGS).join(", ")}, got ${name}`);
      process.exit(2);
    }
    process.stderr.write(`${name}\n`);
    const { stdout } = await promisify(execFile)(process.execPath, [
      fileURLToPath(import.meta.url),
      "--measure",
      name,
    ]);
    rows.push([name, ...(JSON.parse(stdout) as string[])]);
  }
  const head = [
    "parameters",
    "a step",
    "trained",
    "forward",
    "head",
    "backward",
    "AdamW",
    "written",
    "memory",
  ];
  console.log(textTable({ title: "model", head: ["model", ...head], rows }));
}

async function measure({ shape, rows, length, prompt, written, rounds }: Setting): Promise<void> {
  const model = createModel(shape, { heads: { lm: true } });
  const optimizer = new Optimizer(model);
  const batch = idsOf(rows, length, model.config.vocabSize);
  const reads = batch.data.map((_, i) => i).filter((i) => i % length !== length - 1);
  const targets = reads.map((i) => batch.data[i + 1]!);
  const gradLogProbs = new Float32Array(reads.length).fill(-1 / reads.length);
  const spent = { forward: 0, head: 0, backward: 0, optimizer: 0, generate: 0 };
  const timed = async <T>(phase: keyof typeof spent, work: () => T | Promise<T>): Promise<T> => {
    const start = performance.now();
    const result = await work();
    spent[phase] += (performance.now() - start) / 1000;
    return result;
  };
  const round = async () => {
    const pass = await timed("forward", () => model.forward(batch));
    const of = await timed("head", () => pass.logProbs(reads, targets));
    await timed("backward", () => pass.backward({ logProbs: [{ of, gradLogProbs }] }));
    await timed("optimizer", () => optimizer.step({ learningRate: 1e-6, maxNorm: 1 }));
    const prompts = idsOf(rows, prompt, model.config.vocabSize);
    await timed("generate", () => model.generate(prompts, { maxTokens: written }));
  };
  await round();
  for (const phase of Object.keys(spent) as (keyof typeof spent)[]) spent[phase] = 0;
  for (let i = 0; i < rounds; i++) await round();
  const step = spent.forward + spent.head + spent.backward + spent.optimizer;
  const share = (seconds: number) => `${Math.round((100 * seconds) / step)} %`;
  const perSecond = (tokens: number, seconds: number) =>
    `${Math.round((rounds * tokens) / seconds)} tokens/s`;
  const cells = [
    `${(model.size / 1e6).toFixed(1)} M`,
    `${Math.round((1000 * step) / rounds)} ms`,
    perSecond(rows * length, step),
    share(spent.forward),
    share(spent.head),
    share(spent.backward),
    share(spent.optimizer),
    perSecond(rows * written, spent.generate),
    peak(),
  ];
  console.log(JSON.stringify(cells));
}

function idsOf(rows: number, length: number, vocabulary: number) {
  const offsets = Int32Array.from({ length: rows + 1 }, (_, row) => row * length);
  return {
    data: Int32Array.from({ length: rows * length }, (_, i) => (i * 7 + (i >> 4)) % vocabulary),
    offsets,
  };
}

// The largest resident size so far, where the system tells.
function peak(): string {
  if (process.platform !== "linux") return "";
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))![1];
  return `${Math.round(Number(kilobytes) / 1024)} MB`;
}
