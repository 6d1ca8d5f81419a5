import type { Aggregation } from "../../loss/index.ts";
import { shuffled } from "../batches.ts";
import type { TrainConfig } from "../config/schema.ts";
import type { Sequences } from "./sequences.ts";

type Learner = TrainConfig["actor"] | TrainConfig["critic"];

/**
 * @internal The rows of every optimiser step of an update, epoch by epoch: responses in an order that seed and step
 * decide, `miniBatch` prompts' worth at a time.
 */
export function miniBatches(rows: number, config: TrainConfig, learner: Learner, step: number): Int32Array[] {
  const { rollout, seed } = config;
  const size = (learner.miniBatch ?? rollout.prompts) * rollout.n;
  return Array.from({ length: learner.epochs }, (_, epoch) => {
    const order = shuffled(rows, seed, step * learner.epochs + epoch);
    // Rows go through the model in their own order: with all of them at once the shuffle changes nothing.
    return Array.from({ length: Math.ceil(rows / size) }, (_, i) =>
      order.slice(i * size, (i + 1) * size).sort(),
    );
  }).flat();
}

/** @internal How the losses of a micro-batch are aggregated, so that a mini-batch may be split in any way. */
export interface Denominator {
  readonly aggregation: Aggregation;
  readonly denominator: number;
  /** `prompt-mean`: counted tokens of each response's prompt. */
  readonly promptTokens?: readonly number[];
}

/** @internal Counts a mini-batch; `of` gives the denominator for some of its rows. */
export class MiniBatchCount {
  private readonly promptTokens = new Map<number, number>();
  private tokens = 0;
  private responses = 0;

  constructor(
    rows: Int32Array,
    { tokens: { offsets } }: Sequences,
    private readonly promptOf: Int32Array,
    mask: Uint8Array | undefined,
  ) {
    for (const row of rows) {
      const isLeftOut = mask !== undefined && mask[offsets[row]!] === 0;
      const count = isLeftOut ? 0 : offsets[row + 1]! - offsets[row]!;
      if (count === 0) continue;
      this.tokens += count;
      this.responses++;
      this.promptTokens.set(promptOf[row]!, (this.promptTokens.get(promptOf[row]!) ?? 0) + count);
    }
  }

  /** No token counts. */
  get isEmpty(): boolean {
    return this.tokens === 0;
  }

  of(rows: Int32Array, aggregation: Aggregation): Denominator {
    if (aggregation === "token-mean") return { aggregation, denominator: this.tokens };
    if (aggregation !== "prompt-mean") return { aggregation, denominator: this.responses };
    const promptTokens = Array.from(rows, (row) => this.promptTokens.get(this.promptOf[row]!) ?? 0);
    return { aggregation, denominator: this.promptTokens.size, promptTokens };
  }
}
