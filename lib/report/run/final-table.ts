import { count, decimal } from "../numbers.ts";
import type { TextTable } from "../page.ts";
import { significant } from "./numbers.ts";
import type { RunData } from "./read.ts";
import { type Setting, spreadAt } from "./setting.ts";

/** @internal Metrics of the comparing tables; those that no run has are left out. */
const FINAL: readonly (readonly [metric: string, head: string, digits: number])[] = [
  ["eval/pass@1/greedy", "pass@1 greedy", 3],
  ["eval/pass@1/sampled", "pass@1 sampled", 3],
  ["eval/prm", "PRM score", 3],
  ["eval/steps", "steps", 2],
  ["eval/tokens", "tokens", 1],
  ["eval/kl", "KL", 2],
  ["critic/score/mean", "training score", 3],
  ["response_length/mean", "training tokens", 1],
];

/** @internal Last numbers by setting, as mean and standard deviation over its runs, under the numbers before training. */
export function finalTable(settings: readonly Setting[]): TextTable {
  const columns = columnsOf(settings);
  const single = settings.every(({ runs }) => runs.length === 1);
  const all = { series: settings.flatMap(({ series }) => series) };
  const row = (of: Pick<Setting, "series">, which: "first" | "last") =>
    columns.map(([metric, , digits]) => {
      const spread = spreadAt(of, metric, which);
      if (spread === undefined) return "-";
      const mean = decimal(spread.mean, digits);
      return single ? mean : `${mean} ± ${decimal(spread.deviation, digits)}`;
    });
  // Only an evaluation has a number from before the first step.
  const before = columns.some(([metric]) => metric.startsWith("eval/"))
    ? [["before training", "", ...row(all, "first")]]
    : [];
  return {
    title: "Last numbers",
    head: ["", "runs", ...columns.map(([, head]) => head)],
    rows: [
      ...before,
      ...settings.map((setting) => [setting.label, count(setting.runs.length), ...row(setting, "last")]),
    ],
  };
}

/** @internal Last numbers run by run. */
export function runTable(settings: readonly Setting[]): TextTable {
  const columns = columnsOf(settings);
  return {
    title: "Run by run",
    head: ["", "seed", "step", ...columns.map(([, head]) => head)],
    rows: settings.flatMap(({ label, runs, series }) =>
      runs.map((run, r) => [
        label,
        ...placeOf(run),
        ...columns.map(([metric, , digits]) => decimal(series[r]!.get(metric)?.at(-1)?.[1], digits)),
      ]),
    ),
  };
}

const HELD_OUT = "eval/";

/** @internal The last held-out numbers of what went before the runs. */
export function setupTable(settings: readonly Setting[]): TextTable {
  const names = settings.flatMap(({ series }) => series.flatMap((run) => [...run.keys()]));
  const columns = [...new Set(names)].filter((name) => name.startsWith(HELD_OUT));
  return {
    title: "Set-up",
    head: ["", "seed", "step", ...columns.map((name) => name.slice(HELD_OUT.length))],
    rows: settings.flatMap(({ label, runs, series }) =>
      runs.map((run, r) => [
        label,
        ...placeOf(run),
        ...columns.map((name) => significant(series[r]!.get(name)?.at(-1)?.[1])),
      ]),
    ),
  };
}

function placeOf({ config, metrics }: RunData): [seed: string, step: string] {
  return [String(config.seed ?? "-"), count(metrics.at(-1)?.step ?? 0)];
}

function columnsOf(settings: readonly Setting[]) {
  const has = (metric: string) => settings.some(({ series }) => series.some((run) => run.has(metric)));
  const evaluated = has("eval/pass@1/greedy");
  return FINAL.filter(([metric]) => has(metric) && (!evaluated || metric.startsWith("eval/")));
}
