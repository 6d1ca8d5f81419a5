import type { Ragged } from "../../ragged.ts";
import type { TrainableModel } from "../engine/model.ts";

/** A solution to be scored. */
export interface ScorerRow {
  /** Prompt and response. */
  readonly ids: Int32Array;
  /** Index into `ids` of the last token of each step, rising. */
  readonly ends: Int32Array;
}

/** Gives step rewards. */
export interface StepScorer {
  /** One reward per end, row by row: p(good) - p(bad), in (-1, 1). */
  score(rows: readonly ScorerRow[], options?: { signal?: AbortSignal }): Promise<Ragged<Float32Array>>;
}

/** Options of {@link createScorer}. */
export interface ScorerOptions {
  /** Takes the place of the token at every end, as in training. */
  readonly separatorId: number;
  /** Tokens of a forward pass. Default 8192. */
  readonly batchTokens?: number;
}

/** A scorer over a model with a classifier of two classes. */
export declare function createScorer(model: TrainableModel, options: ScorerOptions): StepScorer;

/** A scorer over a folder that {@link trainPrm} wrote. */
export declare function openScorer(
  folder: string,
  options?: { batchTokens?: number },
): Promise<StepScorer & { readonly model: TrainableModel; readonly separatorId: number }>;
