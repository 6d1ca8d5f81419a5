import { AtomicFile } from "../atomic-file.ts";

/**
 * @internal Output rows in the order of the input, whatever order they come in. While they come in that order they go
 * straight to the file; otherwise they are put in order at the end, from a second temporary file.
 */
export class OrderedOutput {
  readonly #path: string;
  readonly #rows: number;
  // Where row i stands in the file as written, in the order of the input.
  readonly #offsets: Float64Array;
  readonly #lengths: Float64Array;
  #file: AtomicFile;
  #written = 0;
  #inOrder = true;

  constructor(path: string, rows: number) {
    this.#path = path;
    this.#rows = rows;
    this.#offsets = new Float64Array(rows);
    this.#lengths = new Float64Array(rows);
    this.#file = new AtomicFile(path);
  }

  /** Writes the line of row `index` of the input. */
  write(index: number, line: Uint8Array): void {
    this.#inOrder &&= index === this.#written;
    this.#offsets[index] = this.#file.length;
    this.#lengths[index] = line.length;
    this.#file.write(line);
    this.#written += 1;
  }

  /** Calls `yielding` now and then, which may throw to cancel. */
  async finish(yielding: () => Promise<void>): Promise<void> {
    if (!this.#inOrder) await this.#sort(yielding);
    this.#file.prepare();
  }

  async #sort(yielding: () => Promise<void>): Promise<void> {
    using unordered = this.#file;
    this.#file = new AtomicFile(this.#path, "ordered");
    for (let row = 0; row < this.#rows; row++) {
      this.#file.write(unordered.read(this.#offsets[row]!, this.#lengths[row]!));
      if (row % 1024 === 1023) await yielding();
    }
  }

  commit(): void {
    this.#file.commit();
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}
