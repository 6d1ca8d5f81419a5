import { createReadStream } from "node:fs";
import { Presets, SingleBar } from "cli-progress";

/** @internal A progress bar on standard error with tokens per second and the time left; nothing without a terminal. */
export class RowProgress {
  readonly #started = performance.now();
  readonly #bar: SingleBar | undefined;
  readonly #total: number | undefined;
  #first: number | undefined;

  constructor(total: number | undefined) {
    this.#total = total;
    if (!process.stderr.isTTY) return;
    const of = total === undefined ? "{value} rows" : "{bar} {value}/{total} rows";
    this.#bar = new SingleBar(
      {
        format: `${of} | {speed} tokens/s | {left}`,
        stream: process.stderr,
        hideCursor: true,
        clearOnComplete: true,
      },
      Presets.shades_classic,
    );
    this.#bar.start(total ?? 0, 0, { speed: "-", left: "-" });
  }

  /** Tokens per second so far. */
  speed(tokens: number): number {
    return tokens / Math.max((performance.now() - this.#started) / 1000, 1e-9);
  }

  update(rows: number, tokens: number): void {
    this.#first ??= rows;
    const done = rows - this.#first;
    const seconds = (performance.now() - this.#started) / 1000;
    const left =
      this.#total === undefined || done === 0
        ? "-"
        : `${Math.ceil((seconds / done) * (this.#total - rows))} s left`;
    this.#bar?.update(rows, { speed: this.speed(tokens).toFixed(0), left });
  }

  /** A line above the bar. */
  note(text: string): void {
    if (this.#bar) process.stderr.write("\r\u001B[K");
    process.stderr.write(`${text}\n`);
  }

  stop(): void {
    this.#bar?.stop();
  }
}

/** @internal Lines of a file, for the bar's total; unknown for standard input. */
export async function countLines(path: string): Promise<number | undefined> {
  if (path === "-") return undefined;
  let lines = 0;
  let last = 10;
  for await (const chunk of createReadStream(path)) {
    for (const byte of chunk as Buffer) if (byte === 10) lines++;
    last = (chunk as Buffer).at(-1) ?? last;
  }
  return last === 10 ? lines : lines + 1;
}
