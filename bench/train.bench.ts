import { createModel, Optimizer, type TrainableModel } from "../lib/train/engine/index.ts";
import type { BenchCase } from "./case.ts";

// The same shapes in bench/torch/train.py: the small one is that of verl's digit task.
const SHAPES = {
  small: {
    hidden_size: 128,
    intermediate_size: 344,
    num_hidden_layers: 4,
    num_attention_heads: 4,
    vocab_size: 16,
  },
  big: {
    hidden_size: 512,
    intermediate_size: 1536,
    num_hidden_layers: 3,
    num_attention_heads: 8,
    vocab_size: 512,
  },
};
const LENGTH = 48;
const PROMPT = 8;

export default (): BenchCase[] =>
  Object.entries(SHAPES).flatMap(([shape, sizes]) => {
    const config = {
      model_type: "llama",
      max_position_embeddings: 2048,
      tie_word_embeddings: false,
      ...sizes,
    };
    const model = createModel(config, { heads: { lm: true } });
    const optimizer = new Optimizer(model);
    return [64, 256].flatMap((rows): BenchCase[] => [
      {
        family: "train",
        name: `${shape} ${(model.size / 1e6).toFixed(1)}M: AdamW step, ${rows} x ${LENGTH} tokens`,
        bytes: 4 * 7 * model.size, // weights and gradients read, weights, gradients and moments written
        run: () => step(model, optimizer, rows),
        torch: `step_${shape}_${rows}`,
      },
      {
        family: "train",
        name: `${shape} ${(model.size / 1e6).toFixed(1)}M: ${LENGTH - PROMPT} tokens for ${rows} prompts`,
        bytes: 4 * model.size * (LENGTH - PROMPT),
        run: () => write(model, rows),
        torch: `generate_${shape}_${rows}`,
      },
    ]);
  });

function batch(rows: number, length: number, vocabulary: number) {
  const offsets = Int32Array.from({ length: rows + 1 }, (_, row) => row * length);
  const data = Int32Array.from({ length: rows * length }, (_, i) => (i * 7 + (i >> 4)) % vocabulary);
  return { data, offsets };
}

async function step(model: TrainableModel, optimizer: Optimizer, rows: number): Promise<void> {
  const ids = batch(rows, LENGTH, model.config.vocabSize);
  const reads = ids.data.map((_, i) => i).filter((i) => i % LENGTH !== LENGTH - 1);
  const pass = await model.forward(ids);
  const of = await pass.logProbs(
    reads,
    reads.map((i) => ids.data[i + 1]!),
  );
  const gradLogProbs = new Float32Array(reads.length).fill(-1 / reads.length);
  await pass.backward({ logProbs: [{ of, gradLogProbs }] });
  optimizer.step({ learningRate: 1e-6, maxNorm: 1 });
}

function write(model: TrainableModel, rows: number): Promise<unknown> {
  return model.generate(batch(rows, PROMPT, model.config.vocabSize), { maxTokens: LENGTH - PROMPT });
}
