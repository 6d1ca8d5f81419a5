import { createHash } from "node:crypto";
import { type Stats, statSync } from "node:fs";
import { InputError } from "../errors.ts";
import { KEPT_BAD_LINES, MAX_LINE_BYTES } from "./limits.ts";
import { type Line, readLines } from "./lines.ts";
import { parseRollout, type Rollout } from "./row.ts";
import { RowError } from "../files/row-error.ts";

/** A line that is no rollout. */
export interface BadLine {
  /** From 1. */
  readonly line: number;
  /** What is wrong with it. */
  readonly reason: string;
}

/** @internal Where the rollouts of a file stand, and which belong together: a few numbers per rollout, no text. */
export interface RolloutIndex {
  readonly path: string;
  /** Changes when the file does. */
  readonly version: string;
  /** Per rollout, in the order of the file. */
  readonly offsets: readonly number[];
  readonly lengths: readonly number[];
  readonly lineNumbers: readonly number[];
  /** Rollouts by group; groups by first appearance, inside a group the order of the file. */
  readonly order: Int32Array;
  /** Group `g` is `order[groupOffsets[g] .. groupOffsets[g + 1])`. */
  readonly groupOffsets: Int32Array;
  /** The first {@link KEPT_BAD_LINES} of them. */
  readonly badLines: readonly BadLine[];
  readonly badLineCount: number;
}

/** @internal Options of {@link scanRollouts}. */
export interface ScanOptions {
  /** What a bad line does: `"fail"` throws, `"skip"` notes it and goes on. */
  onError: "fail" | "skip";
  /** Name of the file in messages, default its path. */
  name?: string;
  signal?: AbortSignal | undefined;
  onBytes?: (done: number) => void;
}

/**
 * @internal First pass over a file: checks every line, and notes where the good ones stand.
 *
 * @throws {@link InputError} `ERR_INPUT` for a file that cannot be read or holds no rollout; naming file and line for a
 * bad line under `onError: "fail"`
 */
export async function scanRollouts(path: string, options: ScanOptions): Promise<RolloutIndex> {
  const { onError, name = path, signal, onBytes } = options;
  const rows = new RowCollector();
  let version = "";
  const badLines: BadLine[] = [];
  let badLineCount = 0;
  try {
    version = versionOf(statSync(path));
    for await (const line of readLines(path, signal)) {
      try {
        rows.add(line);
      } catch (error) {
        if (!(error instanceof RowError)) throw error;
        if (onError === "fail") throw new InputError("ERR_INPUT", `${name}:${line.number}: ${error.message}`);
        badLineCount += 1;
        if (badLines.length < KEPT_BAD_LINES) badLines.push({ line: line.number, reason: error.message });
      }
      onBytes?.(line.offset + line.length);
    }
  } catch (cause) {
    if (cause instanceof InputError || signal?.aborted) throw cause;
    throw new InputError("ERR_INPUT", `${name}: cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (rows.offsets.length === 0) {
    const first = badLines[0];
    const why =
      first === undefined
        ? "it is empty"
        : `all ${badLineCount} lines are bad, line ${first.line}: ${first.reason}`;
    throw new InputError("ERR_INPUT", `${name}: holds no rollout: ${why}`);
  }
  return { path, version, ...rows.index(), badLines, badLineCount };
}

/** @internal What tells one state of a file from another. */
export function versionOf({ size, mtimeMs }: Stats): string {
  return `${size} bytes, ${mtimeMs}`;
}

class RowCollector {
  readonly offsets: number[] = [];
  readonly #lengths: number[] = [];
  readonly #lineNumbers: number[] = [];
  readonly #groupOf: number[] = [];
  readonly #groups = new Map<string, number>();
  readonly #ids = new Map<string, number>();
  #shape: string | undefined;
  #shapeLine = 0;

  add(line: Line): void {
    if (line.bytes === undefined) throw new RowError(`longer than ${MAX_LINE_BYTES} bytes`);
    const text = decode(line.bytes);
    if (text.trim() === "") return;
    const row = parseRollout(text);
    this.#checkShape(row, line.number);
    this.#checkId(row, line.number);
    const key = shortKey(row.group);
    const group = this.#groups.get(key) ?? this.#groups.size;
    this.#groups.set(key, group);
    this.offsets.push(line.offset);
    this.#lengths.push(line.length);
    this.#lineNumbers.push(line.number);
    this.#groupOf.push(group);
  }

  // Pooled baselines and a loss need one unit for all: a file holds rollouts of one kind.
  #checkShape(row: Rollout, line: number): void {
    const shape = shapeOf(row);
    if (this.#shape === undefined) {
      this.#shape = shape;
      this.#shapeLine = line;
    } else if (shape !== this.#shape) {
      throw new RowError(`expected ${this.#shape}, as line ${this.#shapeLine} has, got ${shape}`);
    }
  }

  #checkId({ id }: Rollout, line: number): void {
    if (id === undefined) return;
    const key = shortKey(id);
    const taken = this.#ids.get(key);
    if (taken !== undefined)
      throw new RowError(`id: expected one that no other line has, got that of line ${taken}`);
    this.#ids.set(key, line);
  }

  index(): Omit<RolloutIndex, "path" | "version" | "badLines" | "badLineCount"> {
    const groupOffsets = new Int32Array(this.#groups.size + 1);
    for (const group of this.#groupOf) groupOffsets[group + 1]! += 1;
    for (let g = 0; g < this.#groups.size; g++) groupOffsets[g + 1]! += groupOffsets[g]!;
    const next = groupOffsets.slice();
    const order = new Int32Array(this.#groupOf.length);
    for (const [row, group] of this.#groupOf.entries()) order[next[group]!++] = row;
    return {
      offsets: this.offsets,
      lengths: this.#lengths,
      lineNumbers: this.#lineNumbers,
      order,
      groupOffsets,
    };
  }
}

function shapeOf({ tokens }: Rollout): string {
  if (tokens === undefined) return "steps without tokens";
  if (tokens.logProbs === undefined) return "tokens without log-probs";
  return tokens.refLogProbs === undefined
    ? "tokens with log-probs"
    : "tokens with log-probs and reference log-probs";
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @internal The text of a line. */
export function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new RowError("not UTF-8");
  }
}

// Keeps the memory of a name bounded, however long the name is.
function shortKey(name: string): string {
  return name.length <= 64 ? `=${name}` : `#${createHash("sha256").update(name).digest("base64")}`;
}
