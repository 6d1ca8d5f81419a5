import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import Table from "cli-table3";
import { ArgumentError, InputError } from "../errors.ts";
import { readRows, type TextLine } from "../files/lines.ts";
import { scoreFile } from "../prm/files/score-file.ts";
import { loadPrm } from "../prm/load.ts";
import type { Prm } from "../prm/prm.ts";
import type { ScoreDifference } from "../prm/quantization.ts";
import type { BenchmarkFlags } from "./benchmarks.ts";
import { FirstLines } from "./first-lines.ts";
import { resumeSettings, toLoadOptions } from "./prm-options.ts";
import { COMPARED_ROWS, loadContext, reportQuantization } from "./quantization.ts";
import { RowProgress } from "./row-progress.ts";
import { interruptible } from "./signals.ts";
import { checkPaths } from "./streams.ts";

/** @internal Solutions of one data file. */
export interface BenchmarkFile<R> {
  /** Name of the file without folder and extension. */
  readonly name: string;
  readonly rows: readonly R[];
}

/** @internal Scores of a benchmark, and what they were made with. */
export interface BenchmarkScores {
  readonly model: string;
  readonly convention: string;
  /** The one asked for, else the convention's. */
  readonly threshold: number;
  /** By file, row and step; NaN for a step past the context. */
  readonly scores: readonly (readonly number[])[][];
  readonly quantization?: ScoreDifference;
}

/** @internal Reads the data files, each by `read`. */
export async function readFiles<R>(
  { data }: BenchmarkFlags,
  read: (path: string) => readonly R[] | Promise<readonly R[]>,
): Promise<BenchmarkFile<R>[]> {
  const files: BenchmarkFile<R>[] = [];
  for (const path of data) files.push({ name: basename(path, extname(path)), rows: await read(path) });
  return files;
}

/** @internal Scores the rows of all files as one job, which a killed run can take up again. */
export async function scoreBenchmark<R extends { readonly steps: readonly string[] }>(
  flags: BenchmarkFlags,
  files: readonly BenchmarkFile<R>[],
  toRow: (row: R) => Record<string, unknown>,
): Promise<BenchmarkScores> {
  if (flags.resume && flags.out === undefined)
    throw new ArgumentError("ERR_ARGUMENT_VALUE", "--resume: expected --out with the rows to go on with");
  const folder = flags.out === undefined ? mkdtempSync(join(tmpdir(), "minform-benchmark-")) : undefined;
  const output = flags.out ?? join(folder!, "scored.jsonl");
  try {
    checkPaths("-", output);
    const state = folder === undefined ? "rerun with --resume to go on" : undefined;
    return await interruptible((signal) => score(flags, files, toRow, output, signal), state);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function score<R extends { readonly steps: readonly string[] }>(
  flags: BenchmarkFlags,
  files: readonly BenchmarkFile<R>[],
  toRow: (row: R) => Record<string, unknown>,
  output: string,
  signal: AbortSignal,
): Promise<BenchmarkScores> {
  await using prm = await loadPrm(flags.model, { ...toLoadOptions(flags), ...loadContext(signal) });
  signal.throwIfAborted();
  const lines = new FirstLines(toLines(files, toRow), COMPARED_ROWS);
  await scoreAll(prm, flags, lines, output, signal, files);
  const scored = (await readRows(output)).map(({ step_rewards }) =>
    (step_rewards as (number | null)[]).map((value) => value ?? Number.NaN),
  );
  const scores = files.map(({ rows }) => scored.splice(0, rows.length));
  const quantization = await reportQuantization(prm, flags, lines.first);
  return {
    model: prm.model,
    convention: prm.convention.name,
    threshold: flags.threshold ?? prm.convention.threshold,
    scores,
    ...(quantization === undefined ? {} : { quantization }),
  };
}

async function scoreAll(
  prm: Prm,
  flags: BenchmarkFlags,
  lines: AsyncIterable<TextLine>,
  output: string,
  signal: AbortSignal,
  files: readonly BenchmarkFile<unknown>[],
): Promise<void> {
  const progress = new RowProgress(files.reduce((sum, { rows }) => sum + rows.length, 0));
  try {
    const { bad } = await scoreFile(prm, {
      input: "-",
      lines,
      output,
      signal,
      settings: resumeSettings(flags),
      ...(flags.resume === undefined ? {} : { resume: flags.resume }),
      aggregate: prm.convention.aggregate,
      onProgress: ({ rows, tokens }) => progress.update(rows, tokens),
      onBadRow: ({ line, message }) => progress.note(`row ${line}: ${message}`),
    });
    if (bad.length > 0) throw new InputError("ERR_INPUT", `${bad.length} rows could not be scored`);
  } finally {
    progress.stop();
  }
}

async function* toLines<R>(
  files: readonly BenchmarkFile<R>[],
  toRow: (row: R) => Record<string, unknown>,
): AsyncGenerator<TextLine> {
  let number = 1;
  for (const { name, rows } of files) {
    for (const row of rows) yield { number: number++, text: JSON.stringify({ file: name, ...toRow(row) }) };
  }
}

/** @internal Results on standard output: as JSON, or as a table. */
export function printResults(flags: BenchmarkFlags, results: Record<string, unknown>, table: string): void {
  process.stdout.write(`${flags.json ? JSON.stringify(results, null, 2) : table}\n`);
}

/** @internal A table for the terminal, without colours. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
}

/** @internal A share as people read it. */
export function percent(share: number): string {
  return Number.isNaN(share) ? "-" : (100 * share).toFixed(1);
}
