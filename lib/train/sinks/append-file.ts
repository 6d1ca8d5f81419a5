import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { InputError } from "../../errors.ts";

/** @internal A new file that grows; what is appended is with the operating system at once, and survives a kill. */
export class AppendFile {
  readonly path: string;
  #descriptor: number | undefined;
  #length = 0;

  /** @throws {@link InputError} `ERR_INPUT` when nothing can be written there */
  constructor(path: string) {
    this.path = path;
    try {
      mkdirSync(dirname(path), { recursive: true });
      this.#descriptor = openSync(path, "wx");
    } catch (cause) {
      throw this.#failure(cause);
    }
  }

  /** Bytes so far. */
  get length(): number {
    return this.#length;
  }

  append(bytes: Uint8Array): void {
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(this.#descriptor!, bytes, done, bytes.length - done);
    } catch (cause) {
      throw this.#failure(cause);
    }
    this.#length += bytes.length;
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #failure(cause: unknown): InputError {
    return new InputError("ERR_INPUT", `${this.path}: cannot be written: ${(cause as Error).message}`, {
      cause,
    });
  }
}
