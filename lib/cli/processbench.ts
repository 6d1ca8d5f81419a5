import { readFileSync } from "node:fs";
import { InputError } from "../errors.ts";
import {
  candidateThresholds,
  evaluateProcessBench,
  parseProcessBench,
  type ProcessBenchResult,
  type ProcessBenchRow,
  sweepThresholds,
} from "../prm/processbench.ts";
import { percent, printResults, readFiles, renderTable, scoreBenchmark } from "./benchmark-scores.ts";
import type { BenchmarkFlags } from "./benchmarks.ts";

interface FileResult extends ProcessBenchResult {
  readonly name: string;
  readonly unscoredSteps: number;
  readonly best?: ProcessBenchResult;
}

/** @internal Runs `minform processbench`. */
export async function runProcessBench(flags: BenchmarkFlags): Promise<void> {
  const files = await readFiles(flags, (path) => read(path).slice(0, flags.limit));
  const { scores, ...made } = await scoreBenchmark(flags, files, ({ id, problem, steps, label }) => ({
    id,
    question: problem,
    steps,
    label,
  }));
  const results = files.map(({ name, rows }, i): FileResult => {
    const at = (t: number): ProcessBenchResult => evaluateProcessBench(rows, scores[i]!, t);
    return {
      name,
      ...at(made.threshold),
      unscoredSteps: scores[i]!.flat().filter(Number.isNaN).length,
      ...(flags.sweep ? { best: sweepThresholds(at, candidateThresholds(scores[i]!)).best } : {}),
    };
  });
  const averageF1 = results.reduce((sum, { f1 }) => sum + f1, 0) / results.length;
  printResults(flags, { ...made, results, averageF1 }, table(results, averageF1, made.threshold));
}

function read(path: string): ProcessBenchRow[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: ${(cause as Error).message}`, { cause });
  }
  return parseProcessBench(value, path);
}

function table(results: readonly FileResult[], average: number, threshold: number): string {
  const head = ["", "error acc.", "correct acc.", "F1", "rows", "steps past context"];
  const swept = results.some(({ best }) => best !== undefined);
  const rows = results.map((r) => [
    r.name,
    percent(r.errorAccuracy),
    percent(r.correctAccuracy),
    percent(r.f1),
    `${r.counts.error} + ${r.counts.correct}`,
    String(r.unscoredSteps),
    ...(r.best ? [percent(r.best.f1), r.best.threshold.toPrecision(4)] : []),
  ]);
  const shown = renderTable(swept ? [...head, "best F1 here", "at"] : head, rows);
  return `${shown}\nthreshold ${threshold}, average F1 ${percent(average)}`;
}
