// A fresh model of the embedded task as policy, and rewards that any responses can earn.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createModel, saveModel } from "../../../lib/train/engine/index.ts";
import { ARITHMETIC_MODEL, writeArithmeticTokenizer } from "../../../lib/train/arithmetic/checkpoint.ts";
import type { TrainConfigInput } from "../../../lib/train/config/index.ts";
import type { RewardFunction } from "../../../lib/train/rl/index.ts";
import type { StepScorer } from "../../../lib/train/prm/scorer.ts";
import { metricsOf } from "../support.ts";

/** Writes a policy that knows nothing. */
export async function freshPolicy(root: string): Promise<string> {
  const folder = join(root, "base");
  mkdirSync(folder, { recursive: true });
  const model = createModel(ARITHMETIC_MODEL, { heads: { lm: true }, seed: 3 });
  await saveModel(model, folder, { config: ARITHMETIC_MODEL });
  await writeArithmeticTokenizer(folder);
  return folder;
}

/** Small steps on it; `more` goes over the sections. */
export function tiny(path: string, more: Record<string, object | string | number> = {}): TrainConfigInput {
  const config: Record<string, unknown> = {
    steps: 4,
    seed: 7,
    model: { path },
    data: { train: "arithmetic:train", eval: "arithmetic:held-out", limit: 12 },
    rollout: { prompts: 3, n: 4, maxTokens: 10 },
    reward: { mode: "function" },
    actor: { learningRate: 3e-3 },
    kl: { coefficient: 0.05 },
    eval: { every: 2, prompts: 4 },
    checkpoint: { every: 1 },
  };
  for (const [key, value] of Object.entries(more)) {
    config[key] = typeof value === "object" ? { ...(config[key] as object), ...value } : value;
  }
  return config as TrainConfigInput;
}

/** Every digit is worth 1 / 10; a response that begins with one is right. */
export const digits: RewardFunction = ({ tokens: { data, offsets }, texts }) => ({
  rewards: texts.map((_, row) =>
    Array.from(data.subarray(offsets[row], offsets[row + 1]), (id) => (id >= 9 ? 0.1 : 0)),
  ),
  verified: texts.map((text) => (/^\d/.test(text) ? 1 : 0)),
});

/** A PRM that likes odd token ids at the ends of steps. */
export const parityScorer: StepScorer = {
  async score(rows) {
    const offsets = new Int32Array(rows.length + 1);
    const data = rows.flatMap(({ ids, ends }, row) => {
      offsets[row + 1] = offsets[row]! + ends.length;
      return Array.from(ends, (end) => (ids[end]! % 2 === 1 ? 0.8 : -0.4));
    });
    return { data: Float32Array.from(data), offsets };
  },
};

/** Metrics of a run but for those that are times. */
export function numbersOf(folder: string) {
  return metricsOf(folder).map(({ step, metrics }) => ({
    step,
    metrics: Object.fromEntries(Object.entries(metrics).filter(([name]) => !/^(timing|perf)/.test(name))),
  }));
}
