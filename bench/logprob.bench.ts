// Log-probs and entropy at the size of a 152k vocabulary, beside PyTorch in the same run.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import {
  linearLogProbs,
  linearLogProbsBackward,
  setNumThreads,
  type Tensor,
  tokenLogProbs,
  tokenLogProbsBackward,
} from "../lib/index.ts";

/** One line of the report: milliseconds, and how many bytes had to move where that is the limit. */
export interface Case {
  /** What was measured. */
  name: string;
  /** Best of several runs. */
  milliseconds: number;
  /** Gigabytes per second of input and output, where memory is the limit. */
  gigabytesPerSecond?: number;
  /** PyTorch's time for the same, by variant. */
  peers?: Record<string, number>;
}

const [rows, vocabulary, width] = [256, 151_936, 896];
const threads = 2;

async function best(run: () => Promise<unknown> | undefined, repeats = 5): Promise<number> {
  await run();
  let least = Infinity;
  for (let i = 0; i < repeats; i++) {
    const start = performance.now();
    await run();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

// Cheap noise with the spread of real logits.
function noise(length: number, scale: number): Float32Array<ArrayBuffer> {
  let state = 1;
  return new Float32Array(length).map(() => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    const other = Math.imul(state ^ (state >>> 15), 2246822519);
    return (scale * (state + other)) / 2 ** 31;
  });
}

function torchTimes(): Record<string, number> {
  const script = fileURLToPath(new URL("./torch/logprob.py", import.meta.url));
  try {
    return JSON.parse(
      execFileSync("python3", [script, String(threads)], { stdio: ["ignore", "pipe", "ignore"] }).toString(),
    );
  } catch {
    return {};
  }
}

function pick(times: Record<string, number>, ...names: string[]): { peers?: Record<string, number> } {
  const found = names.filter((name) => typeof times[name] === "number");
  return found.length === 0 ? {} : { peers: Object.fromEntries(found.map((name) => [name, times[name]!])) };
}

/** Runs the cases and hands each to `report` as it is measured. */
export default async function logprob(report: (result: Case) => void): Promise<void> {
  setNumThreads(threads);
  const torch = torchTimes();
  const targets = Int32Array.from({ length: rows }, (_, i) => (i * 7919) % vocabulary);
  const size = rows * vocabulary;
  const rate = (bytes: number, milliseconds: number) => bytes / milliseconds / 1e6;

  const logits: Tensor<"float32"> = { type: "float32", dims: [rows, vocabulary], data: noise(size, 5) };
  const forwardTime = await best(() => tokenLogProbs(logits, targets));
  report({
    name: `tokenLogProbs with entropy, float32 ${rows} x ${vocabulary}`,
    milliseconds: forwardTime,
    gigabytesPerSecond: rate(4 * size, forwardTime),
    ...pick(torch, "eager", "compiled"),
  });

  const forward = await tokenLogProbs(logits, targets);
  const gradients = {
    gradLogProbs: new Float32Array(rows).fill(1),
    gradEntropy: new Float32Array(rows).fill(0.01),
  };
  const out = new Float32Array(size);
  const backwardTime = await best(() => tokenLogProbsBackward(logits, targets, forward, gradients, { out }));
  report({
    name: `tokenLogProbsBackward, float32 ${rows} x ${vocabulary}`,
    milliseconds: backwardTime,
    gigabytesPerSecond: rate(8 * size, backwardTime),
    ...pick(torch, "backward"),
  });
  const copyTime = await best(async () => out.set(logits.data));
  report({
    name: "copy of those logits, one thread",
    milliseconds: copyTime,
    gigabytesPerSecond: rate(8 * size, copyTime),
  });

  const words = new Uint16Array(logits.data.buffer);
  const half = {
    type: "bfloat16",
    dims: logits.dims,
    data: Uint16Array.from({ length: size }, (_, i) => words[2 * i + 1]!),
  } as const;
  const halfTime = await best(() => tokenLogProbs(half, targets));
  report({
    name: `tokenLogProbs with entropy, bfloat16 ${rows} x ${vocabulary}`,
    milliseconds: halfTime,
    gigabytesPerSecond: rate(2 * size, halfTime),
    ...pick(torch, "eagerBfloat16"),
  });

  const head = {
    hidden: { type: "float32", dims: [rows, width], data: noise(rows * width, 1) },
    weight: { type: "float32", dims: [vocabulary, width], data: noise(vocabulary * width, 0.05) },
  } as const;
  const linearTime = await best(() => linearLogProbs(head, targets), 3);
  report({
    name: `linearLogProbs, float32 ${rows} x ${width} states, ${vocabulary} tokens`,
    milliseconds: linearTime,
    ...pick(torch, "matmul"),
  });
  const linearForward = await linearLogProbs(head, targets);
  const reused = {
    gradHidden: new Float32Array(rows * width),
    gradWeight: new Float32Array(vocabulary * width),
  };
  const linearBackwardTime = await best(
    () => linearLogProbsBackward(head, targets, linearForward, gradients, { out: reused }),
    1,
  );
  report({ name: "linearLogProbsBackward, the same", milliseconds: linearBackwardTime });
}
