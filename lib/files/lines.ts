import { createReadStream, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { ArgumentError, InputError } from "../errors.ts";
import { describe } from "../validate.ts";

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

/** @internal A row of a JSON file. */
export interface JsonRow {
  readonly row: Record<string, unknown>;
  /** The line that it begins on; `undefined` for one of an array. */
  readonly line?: number;
}

/** @internal The rows of {@link readJsonRows}, without their lines. */
export async function readRows(path: string): Promise<Record<string, unknown>[]> {
  return (await readJsonRows(path)).map(({ row }) => row);
}

/**
 * @internal All rows of a file that holds JSON Lines, one JSON array of objects, or one JSON object over several lines,
 * which is one row.
 *
 * @throws {@link InputError} `ERR_INPUT` naming file and line
 */
export async function readJsonRows(path: string): Promise<JsonRow[]> {
  const name = inputName(path);
  const lines: TextLine[] = [];
  for await (const line of textLines(openInput(path), name)) if (line.text.trim() !== "") lines.push(line);
  const [first] = lines;
  if (first === undefined) return [];
  if (first.text.trimStart().startsWith("[")) return arrayRows(parseWhole(lines, name), name);
  if (first.text.trimStart().startsWith("{") && !isJson(first.text))
    return [{ row: parseWhole(lines, name) as Record<string, unknown>, line: first.number }];
  return lines.map((line) => {
    try {
      return { row: parseRow(line), line: line.number };
    } catch (cause) {
      const hint = line === first ? `; ${ACCEPTED}` : "";
      throw new InputError("ERR_INPUT", `${name}:${line.number}: ${(cause as Error).message}${hint}`, {
        cause,
      });
    }
  });
}

const ACCEPTED = "expected JSON Lines (an object a line), one array of objects, or one object";

function arrayRows(values: unknown, name: string): JsonRow[] {
  return (values as unknown[]).map((row, i) => {
    if (row !== null && typeof row === "object" && !Array.isArray(row))
      return { row: row as Record<string, unknown> };
    throw new InputError("ERR_INPUT", `${name}: row ${i + 1}: expected an object, got ${describe(row)}`);
  });
}

function parseWhole(lines: readonly TextLine[], name: string): unknown {
  try {
    return JSON.parse(lines.map(({ text }) => text).join("\n"));
  } catch (cause) {
    const { message } = cause as Error;
    const line = lineOf(message, lines);
    const place = line === undefined ? name : `${name}:${line}`;
    const what = /after JSON/.test(message)
      ? "text after the JSON that begins the file"
      : `no JSON: ${message}`;
    throw new InputError("ERR_INPUT", `${place}: ${what}; ${ACCEPTED}`, { cause });
  }
}

// The engine tells where its parser stopped only in its message, and not always.
function lineOf(message: string, lines: readonly TextLine[]): number | undefined {
  if (/end of JSON/.test(message)) return lines.at(-1)!.number;
  let left = Number(/at position (\d+)/.exec(message)?.[1] ?? Number.NaN);
  for (const { number, text } of lines) {
    if (left <= text.length) return number;
    left -= text.length + 1;
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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
