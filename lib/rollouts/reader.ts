import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { InputError } from "../errors.ts";
import { parseRollout, type Rollout } from "./row.ts";
import { RowError } from "../files/row-error.ts";
import { decode, type RolloutIndex, versionOf } from "./scan.ts";

/** @internal A rollout, and the bytes it was read from. */
export interface ReadRollout extends Rollout {
  readonly bytes: Buffer;
}

const WINDOW_BYTES = 1 << 20;

/** @internal Reads single rows of a scanned file again. Rows in the order of the file are read in large pieces. */
export class RolloutReader {
  readonly #index: RolloutIndex;
  readonly #name: string;
  readonly #file: number;
  #window = Buffer.alloc(0);
  #windowStart = 0;

  constructor(index: RolloutIndex, name = index.path) {
    this.#index = index;
    this.#name = name;
    this.#file = openSync(index.path, "r");
  }

  /** Row `index` in the order of the file; its bytes are a copy. */
  read(index: number): ReadRollout {
    const bytes = Buffer.from(this.#span(this.#index.offsets[index]!, this.#index.lengths[index]!));
    try {
      return { ...parseRollout(decode(bytes)), bytes };
    } catch (cause) {
      if (!(cause instanceof RowError)) throw cause;
      throw this.#changed(cause);
    }
  }

  #span(offset: number, length: number): Buffer {
    const begin = offset - this.#windowStart;
    if (begin >= 0 && begin + length <= this.#window.length)
      return this.#window.subarray(begin, begin + length);
    const window = Buffer.allocUnsafe(Math.max(WINDOW_BYTES, length));
    let filled = 0;
    while (filled < window.length) {
      const got = readSync(this.#file, window, filled, window.length - filled, offset + filled);
      if (got === 0) break;
      filled += got;
    }
    if (filled < length) throw this.#changed();
    this.#window = window.subarray(0, filled);
    this.#windowStart = offset;
    return this.#window.subarray(0, length);
  }

  /** Asserts that the file is as it was when it was scanned. */
  assertUnchanged(): void {
    if (versionOf(fstatSync(this.#file)) !== this.#index.version) throw this.#changed();
  }

  #changed(cause?: unknown): InputError {
    return new InputError("ERR_INPUT", `${this.#name}: changed while it was being read`, { cause });
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
