import { ArgumentError, NumericError } from "../errors.ts";
import type { HeadRunner, Tokenizer } from "../model/types.ts";
import { assertOneOf, describe } from "../validate.ts";
import type { BoundConvention } from "./bind.ts";
import { planBatches, toHeadBatch } from "./batch.ts";
import type { InputRow } from "./inputs/input.ts";
import type { Convention } from "./convention.ts";
import type { PrmItem } from "./items.ts";
import { type PreparedItem, type PrepareOptions, prepareItem, stepEnder } from "./prepare.ts";
import type { StepScores } from "./range.ts";
import type { StepSpan } from "./steps.ts";
import { logRatios, scoreRead } from "./transform.ts";

/** Scores of one item: one per step, always. */
export interface ItemScores extends StepScores {
  /** Indices of steps past the model's context, whose value is NaN; empty unless `overlong: "flag"`. */
  readonly unscored: readonly number[];
  /** Where each step stands in its response; missing when the item came as separate steps. */
  readonly spans?: readonly StepSpan[];
  /** Response token on which each step's reward lands; only for items of token ids. */
  readonly stepEnds?: readonly number[];
}

/** How far a call of {@link Prm.score} is. */
export interface ScoreProgress {
  /** Items whose scores are known. */
  readonly items: number;
  /** Items in all, where that is known. */
  readonly totalItems?: number;
  /** Tokens that went through the model. */
  readonly tokens: number;
}

/** Options of one call. */
export interface ScoreOptions {
  /** Ends the call between two batches. */
  signal?: AbortSignal;
  /** Called after each batch. */
  onProgress?: (progress: ScoreProgress) => void;
}

/** @internal What a {@link Prm} is made of. */
export interface PrmParts {
  model: string;
  bound: BoundConvention;
  runner: HeadRunner;
  reference?: HeadRunner;
  batchTokens: number;
  prepare: PrepareOptions;
}

/** A process reward model that is ready to score: from {@link loadPrm}. */
export class Prm {
  /** Folder or hub id it was loaded from. */
  readonly model: string;
  /** The convention in force. */
  readonly convention: Convention;
  /** The PRM's tokenizer. */
  readonly tokenizer: Tokenizer;
  readonly #parts: PrmParts;
  readonly #endsStep: (id: number) => boolean;

  /** @internal */
  constructor(parts: PrmParts) {
    this.model = parts.model;
    this.convention = parts.bound.convention;
    this.tokenizer = parts.bound.tokenizer;
    this.#parts = parts;
    const { policy } = this.convention;
    this.#endsStep = stepEnder(parts.prepare.policyTokenizer, policy?.separator ?? "\n\n");
  }

  /** The model's context, in tokens. */
  get maxLength(): number {
    return this.#parts.prepare.maxLength;
  }

  /** Tokens of one batch. */
  get batchTokens(): number {
    return this.#parts.batchTokens;
  }

  /**
   * Token ids, read positions and step maps of one item, without running the model.
   *
   * @throws {@link PrmError} `ERR_STEP_READS` when reads and steps differ, `ERR_TOO_LONG`; {@link ArgumentError} for a
   * malformed item
   */
  prepare(item: PrmItem): PreparedItem {
    return prepareItem(this.#parts.bound, item, this.#parts.prepare, this.#endsStep);
  }

  /**
   * Scores items. All of them are checked and tokenised before the first one runs; results come in input order and do
   * not depend on it, nor on the batches.
   *
   * @throws {@link PrmError}, {@link ArgumentError} as {@link Prm.prepare}, naming the item
   */
  async score(items: readonly PrmItem[], options: ScoreOptions = {}): Promise<ItemScores[]> {
    if (!Array.isArray(items))
      throw new ArgumentError("ERR_ARGUMENT_TYPE", `items: expected an array, got ${describe(items)}`);
    const prepared = items.map((item, i) => this.#prepareAt(item, i));
    return this.scorePrepared(prepared, options);
  }

  /**
   * Scores items as they come. A window of items is read ahead (`windowTokens`, default 8 batches), batched together and
   * yielded in order.
   *
   * @throws as {@link Prm.score}, at the item at fault; items before it have been yielded
   */
  async *stream(
    items: Iterable<PrmItem> | AsyncIterable<PrmItem>,
    options: ScoreOptions & { windowTokens?: number } = {},
  ): AsyncGenerator<ItemScores, void, undefined> {
    const { windowTokens = 8 * this.#parts.batchTokens } = options;
    let window: PreparedItem[] = [];
    let held = 0;
    let done = 0;
    let tokens = 0;
    const flush = async (): Promise<ItemScores[]> => {
      const batch = window;
      window = [];
      held = 0;
      let spent = 0;
      const scores = await this.scorePrepared(batch, {
        ...(options.signal === undefined ? {} : { signal: options.signal }),
        onProgress: (progress) => {
          spent = progress.tokens;
          options.onProgress?.({ items: done + progress.items, tokens: tokens + spent });
        },
      });
      done += scores.length;
      tokens += spent;
      return scores;
    };
    let index = 0;
    for await (const item of items) {
      let prepared: PreparedItem;
      try {
        prepared = this.#prepareAt(item, index++);
      } catch (error) {
        yield* await flush();
        throw error;
      }
      window.push(prepared);
      held += tokensOf(prepared);
      if (held >= windowTokens) yield* await flush();
    }
    yield* await flush();
  }

  /** Scores what {@link Prm.prepare} gave. */
  async scorePrepared(prepared: readonly PreparedItem[], options: ScoreOptions = {}): Promise<ItemScores[]> {
    const { signal, onProgress } = options;
    signal?.throwIfAborted();
    const rows = prepared.flatMap((item, i) => item.rows.map((row) => ({ row, item: i })));
    const outputs: Float32Array[] = new Array(rows.length);
    const references: Float32Array[] = new Array(rows.length);
    const open = prepared.map((item) => item.rows.length);
    let items = open.filter((count) => count === 0).length;
    let tokens = 0;
    for (const batch of planBatches(
      rows.map(({ row }) => row.ids.length),
      this.#parts.batchTokens,
    )) {
      signal?.throwIfAborted();
      const chosen = batch.map((i) => rows[i]!.row);
      await this.#run(this.#parts.runner, chosen, batch, outputs, signal);
      if (this.#parts.reference) await this.#run(this.#parts.reference, chosen, batch, references, signal);
      for (const i of batch) {
        tokens += rows[i]!.row.ids.length;
        if (--open[rows[i]!.item]! === 0) items++;
      }
      onProgress?.({ items, totalItems: prepared.length, tokens });
    }
    let next = 0;
    return prepared.map((item) => {
      const first = next;
      next += item.rows.length;
      return this.#finish(item, outputs.slice(first, next), references.slice(first, next));
    });
  }

  /** Ends the worker threads. */
  async close(): Promise<void> {
    await this.#parts.runner.close();
    await this.#parts.reference?.close();
  }

  /** Same as {@link Prm.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #prepareAt(item: PrmItem, index: number): PreparedItem {
    try {
      return this.prepare(item);
    } catch (error) {
      if (error instanceof Error) error.message = `items[${index}]: ${error.message}`;
      throw error;
    }
  }

  async #run(
    runner: HeadRunner,
    rows: readonly InputRow[],
    batch: readonly number[],
    into: Float32Array[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const values = await runner.run(toHeadBatch(rows), signal === undefined ? {} : { signal });
    let at = 0;
    rows.forEach((row, j) => {
      const size = row.reads.length * runner.outputs;
      into[batch[j]!] = values.subarray(at, at + size);
      at += size;
    });
    if (at !== values.length)
      throw new ArgumentError(
        "ERR_SHAPE",
        `model: expected ${at} outputs for the reads, got ${values.length}`,
      );
  }

  #finish(item: PreparedItem, outputs: Float32Array[], references: Float32Array[]): ItemScores {
    const { convention } = this;
    const width = this.#parts.runner.outputs;
    const flat = join(outputs);
    const scored =
      convention.head === "lm"
        ? logRatios(convention, flat, join(references), item.readsPerStep)
        : item.readsPerStep.map((_, k) => scoreRead(convention, flat.subarray(k * width, (k + 1) * width)));
    const values = new Float64Array(item.steps).fill(Number.NaN);
    let at = 0;
    for (let k = 0; k < item.steps; k++) {
      if (item.unscored.includes(k)) continue;
      const value = scored[at++]!;
      if (Number.isNaN(value))
        throw new NumericError("ERR_NOT_FINITE", `model: expected finite outputs at step ${k}, got NaN`);
      values[k] = value;
    }
    return {
      range: convention.range,
      values,
      unscored: item.unscored,
      ...(item.spans === undefined ? {} : { spans: item.spans }),
      ...(item.stepEnds === undefined ? {} : { stepEnds: item.stepEnds }),
    };
  }
}

function join(parts: readonly Float32Array[]): Float32Array {
  if (parts.length === 1) return parts[0]!;
  const out = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

function tokensOf(item: PreparedItem): number {
  return item.rows.reduce((sum, row) => sum + row.ids.length, 0);
}

/** @internal Checks the options that shape preparation. */
export function checkPrepareOptions(options: { overlong?: unknown; batchTokens?: unknown }): void {
  if (options.overlong !== undefined) assertOneOf(options.overlong, "overlong", ["error", "flag"]);
  const { batchTokens } = options;
  if (batchTokens !== undefined && !(Number.isSafeInteger(batchTokens) && (batchTokens as number) > 0)) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `batchTokens: expected an integer > 0, got ${describe(batchTokens)}`,
    );
  }
}
