import type { TextCodec } from "../text/codec.ts";

/** A prompt to be answered. */
export interface PromptRow {
  /** Unique in its set. */
  readonly id: string;
  /** What the user asks. */
  readonly text: string;
  /** Ids of the whole prompt, the starting token included. */
  readonly ids: Int32Array;
  /** The right answer; `null` where there is none. */
  readonly answer: string | null;
  /** Difficulty, where the data tells. */
  readonly level?: number;
}

/** Where the parts of a prompt stand in a row; dots go into objects (`reward_model.ground_truth`). */
export interface PromptKeys {
  readonly prompt?: string;
  readonly answer?: string;
  readonly id?: string;
  readonly level?: string;
}

/** Options of {@link readPrompts}. */
export interface ReadPromptsOptions {
  readonly keys?: PromptKeys;
  /** So many rows at most. */
  readonly limit?: number;
  /** Rows to make, of the embedded task; default 512. */
  readonly count?: number;
  /** Seed of the rows that are made. Default 1. */
  readonly seed?: number;
}

/**
 * Reads prompts: a JSONL, JSON or parquet file, or `arithmetic:train` and `arithmetic:held-out`, which are disjoint sets of
 * problems of the embedded task.
 */
export declare function readPrompts(
  source: string,
  codec: TextCodec,
  options?: ReadPromptsOptions,
): Promise<PromptRow[]>;
