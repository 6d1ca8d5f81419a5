import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import Table from "cli-table3";
import { type Command, InvalidArgumentError } from "commander";
import { InputError } from "../errors.ts";
import { readRows, type TextLine } from "../prm/files/lines.ts";
import { scoreFile } from "../prm/files/score-file.ts";
import { loadPrm } from "../prm/load.ts";
import {
  candidateThresholds,
  evaluateProcessBench,
  parseProcessBench,
  type ProcessBenchResult,
  type ProcessBenchRow,
  sweepThresholds,
} from "../prm/processbench.ts";
import {
  addModelFlags,
  type ModelFlags,
  number,
  positive,
  resumeSettings,
  toLoadOptions,
} from "./prm-options.ts";
import { RowProgress } from "./row-progress.ts";
import { interruptible } from "./signals.ts";

interface Flags extends ModelFlags {
  data: string[];
  threshold?: number;
  sweep?: boolean;
  limit?: number;
  out?: string;
  resume?: boolean;
  json?: boolean;
}

/** @internal Adds `minform processbench`. */
export function register(program: Command): void {
  addModelFlags(program.command("processbench"), "flag")
    .description("ProcessBench: first wrong step, exact match, F1, from the benchmark's own files")
    .requiredOption("--data <files...>", "gsm8k.json, math.json, ...")
    .option("--threshold <t>", "a step below it is wrong; default: the convention's", number)
    .option("--sweep", "also report the threshold that is best on these rows")
    .option("--limit <n>", "first N rows of each file", positive)
    .option("--out <folder>", "keep the scored rows there, one JSONL file per data file", checkFolder)
    .option("--resume", "go on with the scored rows in --out")
    .option("--json", "results as JSON on standard output")
    .action(run);
}

function checkFolder(path: string): string {
  if (path === "-") throw new InvalidArgumentError("expected a folder");
  return path;
}

async function run(flags: Flags): Promise<void> {
  const files = flags.data.map((path) => ({
    path,
    name: basename(path, ".json"),
    rows: read(path, flags.limit),
  }));
  const folder = flags.out ?? mkdtempSync(join(tmpdir(), "minform-processbench-"));
  const prm = await loadPrm(flags.model, toLoadOptions(flags));
  const threshold = flags.threshold ?? prm.convention.threshold;
  const progress = new RowProgress(files.reduce((sum, { rows }) => sum + rows.length, 0));
  const scores: number[][][] = [];
  let before = { rows: 0, tokens: 0 };
  try {
    for (const { path, name, rows } of files) {
      const output = join(folder, `${name}.scored.jsonl`);
      const result = await interruptible(
        (signal) =>
          scoreFile(prm, {
            input: path,
            lines: toLines(rows),
            output,
            signal,
            settings: resumeSettings(flags),
            ...(flags.resume === undefined ? {} : { resume: flags.resume }),
            aggregate: prm.convention.aggregate,
            onProgress: (now) => progress.update(before.rows + now.rows, before.tokens + now.tokens),
            onBadRow: ({ line, message }) => progress.note(`${path}: row ${line - 1}: ${message}`),
          }),
        flags.out === undefined ? undefined : "rerun with --resume to go on",
      );
      if (result.bad.length > 0)
        throw new InputError("ERR_INPUT", `${path}: ${result.bad.length} rows could not be scored`);
      before = { rows: before.rows + result.rows, tokens: before.tokens + result.tokens };
      scores.push((await readRows(output)).map(({ step_rewards }) => numbers(step_rewards)));
    }
  } finally {
    progress.stop();
    await prm.close();
    if (flags.out === undefined) rmSync(folder, { recursive: true, force: true });
  }
  const results = files.map(({ name, rows }, i) => {
    const at = (t: number): ProcessBenchResult => evaluateProcessBench(rows, scores[i]!, t);
    const unscored = scores[i]!.flat().filter(Number.isNaN).length;
    return {
      name,
      ...at(threshold),
      unscoredSteps: unscored,
      ...(flags.sweep ? { best: sweepThresholds(at, candidateThresholds(scores[i]!)).best } : {}),
    };
  });
  const average = results.reduce((sum, { f1 }) => sum + f1, 0) / results.length;
  if (flags.json) {
    const { model, convention } = prm;
    process.stdout.write(
      `${JSON.stringify({ model, convention: convention.name, threshold, results, averageF1: average }, null, 2)}\n`,
    );
  } else process.stdout.write(`${table(results, average, threshold)}\n`);
}

function read(path: string, limit: number | undefined): ProcessBenchRow[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: ${(cause as Error).message}`, { cause });
  }
  return parseProcessBench(value, path).slice(0, limit);
}

async function* toLines(rows: readonly ProcessBenchRow[]): AsyncGenerator<TextLine> {
  for (const [i, { id, problem, steps, label }] of rows.entries())
    yield { number: i + 1, text: JSON.stringify({ id, question: problem, steps, label }) };
}

function numbers(values: unknown): number[] {
  return (values as (number | null)[]).map((value) => value ?? Number.NaN);
}

function table(
  results: readonly (ProcessBenchResult & {
    name: string;
    unscoredSteps: number;
    best?: ProcessBenchResult;
  })[],
  average: number,
  threshold: number,
): string {
  const percent = (value: number): string => (100 * value).toFixed(1);
  const head = ["", "error acc.", "correct acc.", "F1", "rows", "steps past context"];
  const swept = results.some(({ best }) => best !== undefined);
  const out = new Table({ head: swept ? [...head, "best F1 here", "at"] : head, style: { head: [] } });
  for (const r of results) {
    out.push([
      r.name,
      percent(r.errorAccuracy),
      percent(r.correctAccuracy),
      percent(r.f1),
      `${r.counts.error} + ${r.counts.correct}`,
      String(r.unscoredSteps),
      ...(r.best ? [percent(r.best.f1), r.best.threshold.toPrecision(4)] : []),
    ]);
  }
  return `${out.toString()}\nthreshold ${threshold}, average F1 ${percent(average)}`;
}
