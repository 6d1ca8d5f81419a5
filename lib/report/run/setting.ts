import { grouped } from "./group.ts";
import type { RunData } from "./read.ts";
import { deviationOf, meanOf, type Point, type SeriesByName, seriesByPhase } from "./series.ts";

/** @internal A run to compare; runs with one label are seeds of one setting. */
export interface ComparedRun {
  readonly label: string;
  readonly folder: string;
}

/** @internal Runs that differ by their seed. */
export interface Setting {
  readonly label: string;
  readonly runs: readonly RunData[];
  /** Of the last phase of each run. */
  readonly series: readonly SeriesByName[];
}

/** @internal Runs by label. */
export function settingsOf(runs: readonly (RunData & { readonly label: string })[]): Setting[] {
  return [...grouped(runs, ({ label }) => label)].map(([label, list]) => ({
    label,
    runs: list,
    series: list.map(({ metrics }) => [...seriesByPhase(metrics).values()].at(-1) ?? new Map()),
  }));
}

/** @internal Mean and deviation over the runs that have a value. */
export interface Spread {
  readonly count: number;
  readonly mean: number;
  readonly deviation: number;
}

/** @internal A metric over the runs of a setting, at its first or last point. */
export function spreadAt(
  { series }: Pick<Setting, "series">,
  metric: string,
  which: "first" | "last",
): Spread | undefined {
  const values = series.flatMap((run) => {
    const points: readonly Point[] = run.get(metric) ?? [];
    const point = which === "first" ? points[0] : points.at(-1);
    return point === undefined ? [] : [point[1]];
  });
  if (values.length === 0) return undefined;
  return { count: values.length, mean: meanOf(values), deviation: deviationOf(values) };
}
