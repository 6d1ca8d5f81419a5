import {
  linearLogProbs,
  linearLogProbsBackward,
  type Tensor,
  tokenLogProbs,
  tokenLogProbsBackward,
} from "../lib/index.ts";
import { type BenchCase, noise } from "./case.ts";

const [ROWS, WIDTH, VOCABULARY] = [256, 896, 151_936];

export default async (): Promise<BenchCase[]> => {
  const family = "logprob";
  const matrix = (rows: number, columns: number, scale: number, seed = 1): Tensor<"float32"> => {
    const data = noise(new Float32Array(rows * columns), seed);
    for (let i = 0; i < data.length; i++) data[i]! *= scale;
    return { type: "float32", dims: [rows, columns], data };
  };
  const targets = Int32Array.from({ length: ROWS }, (_, i) => (i * 7919) % VOCABULARY);
  const gradients = {
    gradLogProbs: new Float32Array(ROWS).fill(1),
    gradEntropy: new Float32Array(ROWS).fill(0.01),
  };

  const size = ROWS * VOCABULARY;
  const logits = matrix(ROWS, VOCABULARY, 5);
  const words = new Uint16Array(logits.data.buffer);
  const half: Tensor<"bfloat16"> = {
    type: "bfloat16",
    dims: logits.dims,
    data: new Uint16Array(size).map((_, i) => words[2 * i + 1]!), // the upper halves
  };
  const forward = await tokenLogProbs(logits, targets);
  const out = new Float32Array(size);

  const head = { hidden: matrix(ROWS, WIDTH, 1), weight: matrix(VOCABULARY, WIDTH, 0.05, 2) };
  const headSize = (ROWS + VOCABULARY) * WIDTH;
  const linearForward = await linearLogProbs(head, targets);
  const linearOut = {
    gradHidden: new Float32Array(ROWS * WIDTH),
    gradWeight: new Float32Array(VOCABULARY * WIDTH),
  };

  return [
    {
      family,
      name: `tokenLogProbs with entropy ${ROWS} x ${VOCABULARY} float32`,
      bytes: 4 * size,
      run: () => tokenLogProbs(logits, targets),
      torch: "float32",
    },
    {
      family,
      name: `tokenLogProbs with entropy ${ROWS} x ${VOCABULARY} bfloat16`,
      bytes: 2 * size,
      run: () => tokenLogProbs(half, targets),
      torch: "bfloat16",
    },
    {
      family,
      name: `tokenLogProbsBackward ${ROWS} x ${VOCABULARY} float32`,
      bytes: 8 * size, // logits in, their gradient out
      traffic: "copy",
      run: () => tokenLogProbsBackward(logits, targets, forward, gradients, { out }),
      torch: "backward",
    },
    {
      family,
      name: `linearLogProbs ${ROWS} x ${WIDTH} x ${VOCABULARY} (torch: the product alone)`,
      bytes: 4 * headSize,
      run: () => linearLogProbs(head, targets),
      torch: "product",
    },
    {
      family,
      name: `linearLogProbsBackward ${ROWS} x ${WIDTH} x ${VOCABULARY}`,
      bytes: 8 * headSize, // states and weights in, their gradients out
      traffic: "copy",
      run: () => linearLogProbsBackward(head, targets, linearForward, gradients, { out: linearOut }),
    },
  ];
};
