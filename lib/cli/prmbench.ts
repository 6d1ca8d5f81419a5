import { readRows } from "../files/lines.ts";
import {
  evaluatePrmBench,
  parsePrmBench,
  type PrmBenchMetrics,
  type PrmBenchResult,
} from "../prm/prmbench.ts";
import { candidateThresholds, sweepThresholds } from "../prm/processbench.ts";
import { percent, printResults, readFiles, renderTable, scoreBenchmark } from "./benchmark-scores.ts";
import type { PrmBenchFlags } from "./benchmarks.ts";

/** @internal Runs `minform prmbench`. */
export async function runPrmBench(flags: PrmBenchFlags): Promise<void> {
  const files = await readFiles(flags, async (path) =>
    parsePrmBench((await readRows(path)).slice(0, flags.limit), path),
  );
  const { scores, ...made } = await scoreBenchmark(
    flags,
    files,
    ({ id, question, steps, errors, classification }) => ({ id, question, steps, errors, classification }),
  );
  const rows = files.flatMap((file) => file.rows);
  const all = scores.flat();
  const at = (threshold: number): PrmBenchResult =>
    evaluatePrmBench(rows, all, threshold, { redundancyThreshold: flags.redundancyThreshold ?? threshold });
  const result = at(made.threshold);
  const best =
    flags.sweep && sweepThresholds(at, candidateThresholds(all), ({ total }) => total.prmScore).best;
  const unscoredSteps = all.flat().filter(Number.isNaN).length;
  printResults(
    flags,
    { ...made, ...result, solutions: rows.length, unscoredSteps, ...(best ? { best } : {}) },
    table(result, best || undefined, unscoredSteps),
  );
}

function table(result: PrmBenchResult, best: PrmBenchResult | undefined, unscored: number): string {
  const head = ["", "F1", "negative F1", "PRMScore", "first error acc.", "steps right + wrong"];
  const line = (name: string, metrics: PrmBenchMetrics): string[] => {
    const { tp, fn, fp, tn } = metrics.counts;
    const shares = [metrics.f1, metrics.negativeF1, metrics.prmScore, metrics.firstErrorAccuracy];
    return [name, ...shares.map(percent), `${tp + fn} + ${fp + tn}`];
  };
  const lines = Object.entries({ ...result.classes, total: result.total }).map(([name, metrics]) =>
    line(name, metrics),
  );
  const { threshold, redundancyThreshold } = result;
  const notes = [
    `threshold ${threshold}${redundancyThreshold === threshold ? "" : `, ${redundancyThreshold} for redundancy and circular`}, ${unscored} steps past the context`,
    ...(best
      ? [`best PRMScore here ${percent(best.total.prmScore)} at ${best.threshold.toPrecision(4)}`]
      : []),
  ];
  return [renderTable(head, lines), ...notes].join("\n");
}
