import type { TextLine } from "../files/lines.ts";

/** @internal Lines that remember the first ones that are not blank, and can be looked at before they are read. */
export class FirstLines implements AsyncIterable<TextLine> {
  /** The first lines that were read, at most `limit`. */
  readonly first: TextLine[] = [];
  readonly #lines: AsyncIterator<TextLine>;
  readonly #limit: number;
  readonly #held: TextLine[] = [];

  constructor(lines: AsyncIterable<TextLine>, limit: number) {
    this.#lines = lines[Symbol.asyncIterator]();
    this.#limit = limit;
  }

  /** The first line that is not blank, which will be read all the same. */
  async peek(): Promise<TextLine | undefined> {
    for (let line = await this.#next(); line !== undefined; line = await this.#next()) {
      this.#held.push(line);
      if (line.text.trim() !== "") return line;
    }
    return undefined;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TextLine, void, undefined> {
    for (;;) {
      const line = this.#held.shift() ?? (await this.#next());
      if (line === undefined) return;
      if (this.first.length < this.#limit && line.text.trim() !== "") this.first.push(line);
      yield line;
    }
  }

  async #next(): Promise<TextLine | undefined> {
    const { done, value } = await this.#lines.next();
    return done === true ? undefined : value;
  }
}
