import { basename, extname } from "node:path";
import { InputError } from "../../errors.ts";
import { openInput, parseRow, type TextLine, textLines } from "../../files/lines.ts";
import * as check from "../../files/row-check.ts";
import { RowError } from "../../files/row-error.ts";
import { benchmarkOf, benchmarkOfPath } from "./benchmarks.ts";
import type { BadSample, GeneratedSample, Generator } from "./generator.ts";
import { readTypes } from "./problem.ts";
import type { Row } from "./rows.ts";

/** A file of generations. */
export interface GenerationsFile {
  /** JSONL, or `-` for standard input. */
  readonly path: string;
  /**
   * Dataset of the rows that name none. Default: the benchmark that the path speaks of, when it is one of those asked for;
   * without datasets that benchmark, else the name of the file.
   */
  readonly dataset?: string;
}

/**
 * Responses that were generated before. A row is
 *
 * - one sample: a text in `response`, with `sample` (from 0) where rows are numbered, or
 * - all samples of a problem: a list of texts in `response`, `responses`, or `code` as Qwen2.5-Math's evaluation writes;
 *
 * with `id` (or `unique_id`), `idx` or `question` saying which problem; optionally `dataset`, `reference` (or `gt`),
 * `finish_reason` (`"length"`: the response was cut at the token limit; a list beside a list of responses).
 *
 * @throws {@link index.InputError | InputError} `ERR_INPUT`, from the iteration, for a file that cannot be read
 */
export function fileGenerator(files: readonly GenerationsFile[]): Generator {
  return {
    name: files.map(({ path }) => path).join(", "),
    async *generate({ prompts, signal }) {
      const asked = new Set(prompts.map((prompt) => prompt.dataset));
      for (const { path, dataset = spokenOf(path, asked) } of files) {
        for await (const line of textLines(openInput(path), path)) {
          signal?.throwIfAborted();
          if (line.text.trim() !== "") yield* readLine(line, `${path}:${line.number}`, dataset);
        }
      }
    },
  };
}

// A path is only a hint where there are datasets.
function spokenOf(path: string, asked: ReadonlySet<string>): string | undefined {
  const name = benchmarkOfPath(path)?.name;
  if (asked.size === 0) return name ?? basename(path, extname(path));
  return name !== undefined && asked.has(name) ? name : undefined;
}

function readLine(line: TextLine, place: string, dataset?: string): (GeneratedSample | BadSample)[] {
  try {
    return readSamples(parseRow(line), place, dataset);
  } catch (error) {
    if (!(error instanceof InputError || error instanceof RowError)) throw error;
    return [{ place, message: error.message }];
  }
}

const RESPONSES = ["response", "responses", "code"];

function readSamples(row: Row, place: string, file?: string): GeneratedSample[] {
  const key = RESPONSES.find((name) => !check.absent(row[name]));
  if (key === undefined) {
    const found = Object.keys(row).join(", ") || "no keys";
    throw new RowError(`expected ${RESPONSES.join(" or ")}, got ${found}`);
  }
  const named = first(row, ["dataset", "benchmark", "data_source"], check.string);
  const common = check.defined({
    dataset: named === undefined ? file : (benchmarkOf(named)?.name ?? named),
    id: first(row, ["id", "unique_id"], check.name),
    index: first(row, ["idx"], index),
    question: first(row, ["question", "problem"], check.string),
    reference: first(row, ["reference", "gt"], check.text),
    types: readTypes(row),
    place,
  });
  const { finish_reason: reason } = row;
  if (typeof row[key] === "string") {
    const sample = check.defined({ sample: check.optional(row, "sample", index) });
    return [{ ...common, ...sample, response: row[key], truncated: reason === "length" }];
  }
  return check.strings(row, key).map((response, sample) => {
    const truncated = (Array.isArray(reason) ? reason[sample] : reason) === "length";
    return { ...common, sample, response, truncated };
  });
}

function first<T>(row: Row, keys: readonly string[], read: (row: Row, key: string) => T): T | undefined {
  const key = keys.find((name) => !check.absent(row[name]));
  return key === undefined ? undefined : read(row, key);
}

function index(row: Row, key: string): number {
  const value = check.integer(row, key);
  if (value < 0) throw new RowError(`${key}: expected an integer >= 0, got ${value}`);
  return value;
}
