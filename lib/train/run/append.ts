import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync, fstatSync } from "node:fs";
import { InputError } from "../../errors.ts";

/** @internal A JSONL file that grows line by line and can be cut back to where it once was. It has one writer. */
export class LineFile {
  readonly #path: string;
  readonly #file: number;
  #length: number;

  /**
   * @param keep - bytes that stay; what is after them is cut off
   * @throws {@link InputError} `ERR_INPUT` when the file cannot be opened, or is shorter than that
   */
  constructor(path: string, keep: number) {
    this.#path = path;
    try {
      this.#file = openSync(path, "a");
    } catch (cause) {
      throw this.#failed("opened", cause);
    }
    const { size } = fstatSync(this.#file);
    if (size < keep) {
      closeSync(this.#file);
      throw new InputError(
        "ERR_INPUT",
        `${path}: expected the ${keep} bytes that the last checkpoint speaks of, got ${size}`,
      );
    }
    if (size > keep) ftruncateSync(this.#file, keep);
    this.#length = keep;
  }

  /** Bytes so far. */
  get length(): number {
    return this.#length;
  }

  /**
   * Appends a line.
   *
   * @throws {@link InputError} `ERR_INPUT` when it cannot be written, or another run has written to the file or cut it
   */
  append(value: unknown): void {
    this.#assertOwn();
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
    try {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.#file, bytes, done, bytes.length - done);
      }
    } catch (cause) {
      throw this.#failed("written", cause);
    }
    this.#length += bytes.length;
  }

  /** Brings the lines to the disk. Throws as {@link LineFile.append}. */
  flush(): void {
    this.#assertOwn();
    try {
      fsyncSync(this.#file);
    } catch (cause) {
      throw this.#failed("written", cause);
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  // A lock would outlive a run that was killed. A foreign line shows before the next one of ours.
  #assertOwn(): void {
    const { size } = fstatSync(this.#file);
    if (size === this.#length) return;
    throw new InputError(
      "ERR_INPUT",
      `${this.#path}: expected the ${this.#length} bytes of this run, got ${size}: another process works in the folder`,
    );
  }

  #failed(what: string, cause: unknown): InputError {
    return new InputError("ERR_INPUT", `${this.#path}: cannot be ${what}: ${(cause as Error).message}`, {
      cause,
    });
  }
}
