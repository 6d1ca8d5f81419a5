import { clearScreenDown, cursorTo, moveCursor } from "node:readline";

const HIDE = "\u001B[?25l";
const SHOW = "\u001B[?25h";

/** @internal Lines at the bottom of a terminal that are written over. */
export class Block {
  readonly #stream: NodeJS.WriteStream;
  #height = 0;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  /** Replaces the lines. No more of them are drawn than fit: what has scrolled away cannot be written over. */
  draw(lines: readonly string[]): void {
    const fitting = lines.slice(0, Math.max(1, (this.#stream.rows ?? 24) - 1));
    this.#stream.write(HIDE);
    this.clear();
    this.#stream.write(`${fitting.join("\n")}\n`);
    this.#height = fitting.length;
  }

  /** Takes the lines away. */
  clear(): void {
    if (this.#height === 0) return;
    moveCursor(this.#stream, 0, -this.#height);
    cursorTo(this.#stream, 0);
    clearScreenDown(this.#stream);
    this.#height = 0;
  }

  /** Leaves the lines where they are; what is drawn next goes below. */
  keep(): void {
    this.#height = 0;
    this.#stream.write(SHOW);
  }
}
