import { createReadStream, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { ArgumentError, InputError } from "../errors.ts";

/** @internal Longest line that is read, in bytes. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** @internal One line of text, its number from 1. */
export interface TextLine {
  readonly number: number;
  readonly text: string;
}

/** @internal A file, or standard input for `-`; the signal also ends a read that waits for more. */
export function openInput(path: string, signal?: AbortSignal): Readable {
  const stream = path === "-" ? process.stdin : createReadStream(path);
  return signal === undefined ? stream : addAbortSignal(signal, stream);
}

/** @internal What messages call an input. */
export function inputName(path: string): string {
  return path === "-" ? "standard input" : path;
}

/**
 * @internal Lines of a stream by either line end (and by nothing else: JSON may hold other separators as they are).
 *
 * @throws {@link InputError} `ERR_INPUT` for a stream that cannot be read, or a line past {@link MAX_LINE_BYTES}
 */
export async function* textLines(stream: Readable, name: string): AsyncGenerator<TextLine> {
  let number = 1;
  let parts: Buffer[] = [];
  let size = 0;
  const close = (): TextLine => {
    let text = Buffer.concat(parts).toString("utf8");
    if (number === 1 && text.startsWith("\uFEFF")) text = text.slice(1);
    if (text.endsWith("\r")) text = text.slice(0, -1);
    parts = [];
    size = 0;
    return { number: number++, text };
  };
  try {
    for await (const chunk of stream) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Buffer);
      let start = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
        parts.push(bytes.subarray(start, end));
        start = end + 1;
        yield close();
      }
      if (start === bytes.length) continue;
      size += bytes.length - start;
      if (size > MAX_LINE_BYTES) throw new InputError("ERR_INPUT", `${name}:${number}: line too long`);
      parts.push(bytes.subarray(start));
    }
  } catch (cause) {
    if (cause instanceof InputError || (cause as Error).name === "AbortError") throw cause;
    throw new InputError("ERR_INPUT", `${name}: cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (size > 0) yield close();
}

/** @internal A line as a JSON object. */
export function parseRow(line: TextLine): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch (cause) {
    throw new InputError("ERR_INPUT", `no JSON: ${(cause as Error).message}`, { cause });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new InputError("ERR_INPUT", "expected a JSON object");
  return value as Record<string, unknown>;
}

/**
 * @internal All rows of a JSONL file, or of a file that holds one JSON array.
 *
 * @throws {@link InputError} `ERR_INPUT` naming file and line
 */
export async function readRows(path: string): Promise<Record<string, unknown>[]> {
  const lines: TextLine[] = [];
  for await (const line of textLines(openInput(path), inputName(path)))
    if (line.text.trim() !== "") lines.push(line);
  if (lines[0]?.text.trimStart().startsWith("[")) {
    try {
      const all = JSON.parse(lines.map((line) => line.text).join("\n")) as Record<string, unknown>[];
      return all;
    } catch (cause) {
      throw new InputError("ERR_INPUT", `${inputName(path)}: no JSON: ${(cause as Error).message}`, {
        cause,
      });
    }
  }
  return lines.map((line) => {
    try {
      return parseRow(line);
    } catch (cause) {
      throw new InputError("ERR_INPUT", `${inputName(path)}:${line.number}: ${(cause as Error).message}`, {
        cause,
      });
    }
  });
}

/**
 * @internal Asserts that an input is not written over while it is read.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE` when both are one file
 */
export function assertApart(input: string, output: string): void {
  if (input === "-" || output === "-") return;
  const real = (path: string): string => {
    try {
      return realpathSync(path);
    } catch {
      return resolve(path);
    }
  };
  if (real(input) === real(output))
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `input and output: expected two files, got ${input} twice`);
}
