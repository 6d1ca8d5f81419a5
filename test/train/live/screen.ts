import { Writable } from "node:stream";

/** A terminal of `columns` by `rows` that understands what the live view writes. */
export class Screen extends Writable {
  readonly isTTY = true;
  lines = [""];
  cursor = true;
  /** The longest line written. */
  widest = 0;
  #row = 0;

  constructor(
    readonly columns = 80,
    readonly rows = 24,
  ) {
    super({ decodeStrings: false });
  }

  get text(): string {
    return this.lines.join("\n").trimEnd();
  }

  override _write(chunk: string, _: string, done: () => void): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what this reads
    for (const [, code, kind, text] of chunk.matchAll(/\x1b\[([?\d]*)([A-Za-z])|([^\x1b]+)/g)) {
      if (kind === "A") this.#up(Number(code));
      else if (kind === "G") this.#assert(code === "1", "columns but the first");
      else if (kind === "J") this.lines.splice(this.#row, Number.POSITIVE_INFINITY, "");
      else if (kind === "l" || kind === "h") this.cursor = kind === "h";
      else if (text !== undefined) this.#print(text);
      else throw new Error(`unknown sequence ${JSON.stringify(chunk)}`);
    }
    done();
  }

  #up(rows: number): void {
    this.#assert(rows < this.rows, "rows that have scrolled away");
    this.#row -= rows;
    this.#assert(this.#row >= 0, "rows above the first");
  }

  #print(text: string): void {
    for (const [i, part] of text.split("\n").entries()) {
      if (i > 0) this.#row++;
      this.lines[this.#row] = (this.lines[this.#row] ?? "") + part;
      this.widest = Math.max(this.widest, [...this.lines[this.#row]!].length);
    }
  }

  #assert(holds: boolean, what: string): void {
    if (!holds) throw new Error(`the cursor cannot go to ${what}`);
  }
}
