import { createReadStream } from "node:fs";
import { MAX_LINE_BYTES } from "./limits.ts";

/** @internal One line of a file. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Where it starts in the file. */
  readonly offset: number;
  /** Its bytes without the line end; undefined when there are more than {@link MAX_LINE_BYTES}. */
  readonly bytes: Buffer | undefined;
  /** Its length, line end not counted. */
  readonly length: number;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * @internal The lines of a file, by either line end, the last one with or without one. A byte order mark at the start
 * is passed over. Holds one chunk and one line at a time, and of a line that is too long nothing.
 */
export async function* readLines(path: string, signal?: AbortSignal): AsyncGenerator<Line> {
  const line = new OpenLine();
  let position = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, ...(signal && { signal }) })) {
    const bytes = chunk as Buffer;
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      line.add(bytes.subarray(start, end));
      start = end + 1;
      yield line.close(position + start);
    }
    line.add(bytes.subarray(start));
    position += bytes.length;
  }
  if (line.length > 0) yield line.close(position);
}

class OpenLine {
  length = 0;
  #number = 1;
  #offset = 0;
  #parts: Buffer[] = [];

  add(part: Buffer): void {
    this.length += part.length;
    if (this.length > MAX_LINE_BYTES) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  /** Ends the line; the next one starts at `next`. */
  close(next: number): Line {
    let bytes = this.length > MAX_LINE_BYTES ? undefined : Buffer.concat(this.#parts);
    let offset = this.#offset;
    if (this.#number === 1 && bytes?.subarray(0, 3).equals(BYTE_ORDER_MARK)) {
      bytes = bytes.subarray(3);
      offset += 3;
    }
    if (bytes?.at(-1) === CARRIAGE_RETURN) bytes = bytes.subarray(0, -1);
    const line = { number: this.#number, offset, bytes, length: bytes?.length ?? this.length };
    this.#number += 1;
    this.#offset = next;
    this.length = 0;
    this.#parts = [];
    return line;
  }
}
