import type { RunMetrics } from "./read.ts";

/** @internal A value at a step. */
export type Point = readonly [step: number, value: number];

/** @internal The metrics of a phase by name, each in the order of the steps; what is not a number is left out. */
export type SeriesByName = ReadonlyMap<string, readonly Point[]>;

/** @internal The metrics by phase, in the order in which the phases began. */
export function seriesByPhase(rows: readonly RunMetrics[]): ReadonlyMap<string, SeriesByName> {
  const phases = new Map<string, Map<string, Point[]>>();
  for (const { phase, step, metrics } of rows) {
    const series = phases.get(phase) ?? new Map<string, Point[]>();
    phases.set(phase, series);
    for (const [name, value] of Object.entries(metrics)) {
      if (value === null) continue;
      const points = series.get(name) ?? [];
      series.set(name, points);
      points.push([step, value]);
    }
  }
  for (const series of phases.values())
    for (const points of series.values()) points.sort(([a], [b]) => a - b);
  return phases;
}

const MOST_POINTS = 240;

/** @internal As many points as a chart can show: means of neighbours where there are more. */
export function thinned(points: readonly Point[]): readonly Point[] {
  if (points.length <= MOST_POINTS) return points;
  const size = Math.ceil(points.length / MOST_POINTS);
  return Array.from({ length: Math.ceil(points.length / size) }, (_, i) => {
    const some = points.slice(i * size, (i + 1) * size);
    return [meanOf(some.map(([step]) => step)), meanOf(some.map(([, value]) => value))] as const;
  });
}

/** @internal Mean of at least one value. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @internal Standard deviation, ddof 1; 0 for a single value. */
export function deviationOf(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const mean = meanOf(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}

/** @internal Several curves of one metric as mean and range at the steps that all of them have. */
export function combined(curves: readonly (readonly Point[])[]): {
  mean: Point[];
  low: Point[];
  high: Point[];
} {
  const maps = curves.map((points) => new Map(points));
  const steps = [...(maps[0]?.keys() ?? [])].filter((step) => maps.every((map) => map.has(step)));
  const at = (of: (values: number[]) => number) =>
    steps.map((step): Point => [step, of(maps.map((map) => map.get(step)!))]);
  return {
    mean: at(meanOf),
    low: at((values) => Math.min(...values)),
    high: at((values) => Math.max(...values)),
  };
}
