import type { RaggedInts } from "../../model/types.ts";
import { type Ragged, raggedOffsets } from "../../ragged.ts";
import { joinRows, packRows } from "../batches.ts";
import { sharePrefixes } from "./prefixes.ts";
import type { Rollouts } from "./types.ts";

/** @internal Some rows as they go through a model, and where their response tokens are read. */
export interface MicroBatch {
  /** Rows of the rollouts. */
  readonly rows: Int32Array;
  /** Prompts and responses up to the token before the last; those that begin another one go through as part of it. */
  readonly batch: RaggedInts;
  /** Per response token: the index in the batch of the token before it. */
  readonly reads: Int32Array;
  /** The response tokens. */
  readonly targets: Int32Array;
  /** Rows of the response tokens. */
  readonly offsets: Int32Array;
}

/** @internal Prompts and responses of a step, joined once and read by every pass. */
export class Sequences {
  /** Prompt and response, row by row. */
  readonly ids: readonly Int32Array[];
  /** Response tokens. */
  readonly tokens: Ragged<Int32Array>;
  private readonly promptLengths: Int32Array;

  constructor({ prompts, promptOf, tokens }: Pick<Rollouts, "prompts" | "promptOf" | "tokens">) {
    this.tokens = tokens;
    this.promptLengths = Int32Array.from(promptOf, (prompt) => prompts[prompt]!.ids.length);
    this.ids = Array.from(promptOf, (prompt, row) => {
      const { ids } = prompts[prompt]!;
      const response = tokens.data.subarray(tokens.offsets[row], tokens.offsets[row + 1]);
      const joined = new Int32Array(ids.length + response.length);
      joined.set(ids);
      joined.set(response, ids.length);
      return joined;
    });
  }

  get rows(): number {
    return this.ids.length;
  }

  promptLength(row: number): number {
    return this.promptLengths[row]!;
  }

  /** The rows, in micro-batches of at most so many tokens; rows without a response token are left out. */
  *micro(rows: ArrayLike<number>, budget: number): Generator<MicroBatch> {
    const { offsets } = this.tokens;
    const answered = Array.from(rows).filter((row) => offsets[row + 1]! > offsets[row]!);
    const lengths = answered.map((row) => this.ids[row]!.length);
    for (const { from, to } of packRows(lengths, budget)) {
      yield this.join(Int32Array.from(answered.slice(from, to)));
    }
  }

  /** All rows, in order. */
  all(): Int32Array {
    return Int32Array.from({ length: this.rows }, (_, row) => row);
  }

  private join(rows: Int32Array): MicroBatch {
    // The last token is only ever a target.
    const inputs = Array.from(rows, (row) => this.ids[row]!.subarray(0, -1));
    const shared = sharePrefixes(inputs);
    const batch = joinRows(shared.rows);
    const targets = takeRows(this.tokens, rows);
    const reads = new Int32Array(targets.data.length);
    rows.forEach((row, i) => {
      const first = batch.offsets[shared.places[i]!]! + this.promptLengths[row]! - 1;
      for (let k = targets.offsets[i]!; k < targets.offsets[i + 1]!; k++) {
        reads[k] = first + k - targets.offsets[i]!;
      }
    });
    return { rows, batch, reads, targets: targets.data, offsets: targets.offsets };
  }
}

/** @internal Some rows of a ragged array, copied. */
export function takeRows<T extends Int32Array | Float32Array | Uint8Array>(
  { data, offsets }: Ragged<T>,
  rows: ArrayLike<number>,
): Ragged<T> {
  const taken = raggedOffsets(Array.from(rows, (row) => offsets[row + 1]! - offsets[row]!));
  const out = new (data.constructor as new (length: number) => T)(taken[rows.length]!);
  for (let i = 0; i < rows.length; i++) {
    out.set(data.subarray(offsets[rows[i]!], offsets[rows[i]! + 1]), taken[i]!);
  }
  return { data: out, offsets: taken };
}

/** @internal Puts rows where they belong in an array of all rows. */
export function putRows(
  into: Ragged<Float32Array>,
  rows: ArrayLike<number>,
  { data, offsets }: Ragged<Float32Array>,
): void {
  for (let i = 0; i < rows.length; i++) {
    into.data.set(data.subarray(offsets[i], offsets[i + 1]), into.offsets[rows[i]!]!);
  }
}
