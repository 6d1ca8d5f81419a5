import { ArgumentError, NumericError } from "../../errors.ts";
import { runJob } from "../../job.ts";
import { addon } from "../../load.ts";
import type { RaggedInts } from "../../model/types.ts";
import type { Ragged } from "../../ragged.ts";
import { checkRule, type SamplingRule } from "../../sampling/rule.ts";
import { assertCount, describe } from "../../validate.ts";
import { Asking } from "./asking.ts";
import type { NativeEngine, ParameterArguments } from "./kernels.ts";
import { checkIndices } from "./pass.ts";

/** How sequences are drawn. */
export interface GenerateOptions extends SamplingRule {
  /** Sequences per prompt. Default 1. */
  readonly samples?: number;
  /** Number of the first sample of every prompt: sample s here is sample `firstSample + s`. Default 0. */
  readonly firstSample?: number;
  /** Tokens to write at most, per sequence. */
  readonly maxTokens: number;
  /** Ids after which a sequence ends; the id is part of it. Default none. */
  readonly stopIds?: readonly number[];
  /**
   * Asked about every sequence each time that 16 more of its tokens are written, with all of them up to there and its
   * row of the result. True ends the sequence with these tokens, `stopped` 0 unless the last of them is a stop id. The
   * generation does not wait for the answer and drops what it wrote meanwhile, so that sequences still depend on nothing
   * else that is drawn, as long as answers depend on the tokens alone. What it throws ends the generation.
   */
  readonly isDone?: (tokens: Int32Array, row: number) => boolean;
  /** Sequences under way at a time; bounds the memory of the cache. Default 256. */
  readonly batch?: number;
  /** Aborts the work. */
  readonly signal?: AbortSignal;
}

/** Sequences, prompt by prompt and sample by sample. */
export interface Generated {
  /** Tokens written, the prompt not included. */
  readonly tokens: Ragged<Int32Array>;
  /**
   * Log-prob of every token under the whole distribution at the temperature (at 1 where that is 0): the very numbers
   * that {@link Pass.logProbs} gives for the same tokens.
   */
  readonly logProbs: Ragged<Float32Array>;
  /** Per sequence: its prompt. */
  readonly prompts: Int32Array;
  /** Per sequence: 1 when a stop id ended it, 0 when `maxTokens` or `isDone` did. */
  readonly stopped: Uint8Array;
}

/** @internal Options with defaults, checked. */
export function checkGenerate(options: GenerateOptions, vocabulary: number) {
  const { samples = 1, firstSample = 0, maxTokens, stopIds = [], isDone, batch = 256, signal } = options;
  for (const [name, value] of Object.entries({ samples, maxTokens, batch })) assertCount(value, name, 1);
  assertCount(firstSample, "firstSample");
  checkIndices(Int32Array.from(stopIds), "stopIds", vocabulary);
  if (isDone !== undefined && typeof isDone !== "function") {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `isDone: expected a function, got ${describe(isDone)}`);
  }
  return { samples, firstSample, maxTokens, stopIds, isDone, batch, signal, ...checkRule(options) };
}

/** @internal Runs a generation on checked arguments. */
export async function generate(
  native: NativeEngine,
  parameters: ParameterArguments,
  head: Float32Array,
  prompts: RaggedInts,
  options: ReturnType<typeof checkGenerate>,
): Promise<Generated> {
  const { samples, firstSample, maxTokens, rule, seed, isDone, signal } = options;
  const rows = (prompts.offsets.length - 1) * samples;
  const promptOf = Int32Array.from({ length: rows }, (_, row) => Math.floor(row / samples));
  const sampleOf = Int32Array.from({ length: rows }, (_, row) => firstSample + (row % samples));
  const tokens = new Int32Array(rows * maxTokens);
  const logProbs = new Float32Array(rows * maxTokens);
  const lengths = new Int32Array(rows);
  const stopped = new Uint8Array(rows);
  const asking = isDone && new Asking(isDone, tokens, lengths);
  const start = () =>
    addon().model.generate(
      native,
      ...parameters,
      head,
      prompts.data,
      prompts.offsets,
      promptOf,
      sampleOf,
      Int32Array.from(seed),
      ...rule,
      Int32Array.from(options.stopIds),
      maxTokens,
      options.batch,
      tokens,
      logProbs,
      lengths,
      stopped,
      asking?.ended ?? null,
    );
  const status = await (asking === undefined ? runJob(signal, start) : asking.during(signal, start));
  if (status >= 0) {
    throw new NumericError(
      "ERR_NOT_FINITE",
      `generate: expected finite logits, got NaN or infinity for prompt ${promptOf[status]}, sample ${sampleOf[status]}`,
    );
  }
  asking?.cut(stopped);
  const offsets = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) offsets[row + 1] = offsets[row]! + lengths[row]!;
  const compact = <T extends Int32Array | Float32Array>(from: T, to: T): T => {
    for (let row = 0; row < rows; row++) {
      to.set(from.subarray(row * maxTokens, row * maxTokens + lengths[row]!), offsets[row]!);
    }
    return to;
  };
  return {
    tokens: { data: compact(tokens, new Int32Array(offsets[rows]!)), offsets },
    logProbs: { data: compact(logProbs, new Float32Array(offsets[rows]!)), offsets },
    prompts: promptOf,
    stopped,
  };
}
