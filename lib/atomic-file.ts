import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { InputError } from "./errors.ts";

/**
 * @internal A file that appears whole or not at all: written under a temporary name in the same folder, it takes its
 * own name in `commit`. Disposing of it before that removes it, and leaves an older file of that name as it was.
 */
export class AtomicFile {
  readonly #path: string;
  readonly #temporary: string;
  #descriptor: number | undefined;
  #length = 0;

  /**
   * @param kind - tells temporary files of one process for the same path apart
   * @throws {@link InputError} `ERR_INPUT` when nothing can be written there
   */
  constructor(path: string, kind = "new") {
    this.#path = resolve(path);
    this.#temporary = join(dirname(this.#path), `.${basename(this.#path)}.${process.pid}.${kind}.tmp`);
    try {
      if (statSync(this.#path, { throwIfNoEntry: false })?.isDirectory()) throw new Error("it is a folder");
      this.#descriptor = openSync(this.#temporary, "w+");
    } catch (cause) {
      throw new InputError("ERR_INPUT", `${path}: cannot be written: ${(cause as Error).message}`, { cause });
    }
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#descriptor!, bytes, done, bytes.length - done);
    }
    this.#length += bytes.length;
  }

  /** Bytes that were written before. */
  read(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) {
      const got = readSync(this.#descriptor!, bytes, done, length - done, offset + done);
      if (got === 0)
        throw new InputError("ERR_INPUT", `${this.#temporary}: was cut short by another process`);
      done += got;
    }
    return bytes;
  }

  /** Brings the bytes to the disk: after this, `commit` has little left to fail at. */
  prepare(): void {
    fsyncSync(this.#descriptor!);
    this.#close();
  }

  /** Gives the prepared file its name. */
  commit(): void {
    renameSync(this.#temporary, this.#path);
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  [Symbol.dispose](): void {
    this.#close();
    rmSync(this.#temporary, { force: true });
  }
}

/**
 * @internal Writes a file that appears whole or not at all.
 *
 * @throws {@link InputError} `ERR_INPUT` when it cannot be written; an older file of that name is then as it was
 */
export function writeWhole(path: string, ...parts: readonly (string | Uint8Array)[]): void {
  using file = new AtomicFile(path);
  try {
    for (const part of parts) file.write(typeof part === "string" ? Buffer.from(part) : part);
    file.prepare();
    file.commit();
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: cannot be written: ${(cause as Error).message}`, { cause });
  }
}
