import type { Chart } from "../chart.ts";
import { type Curve, PALETTE, stepChart } from "./draw.ts";
import type { Point, SeriesByName } from "./series.ts";
import { CHARTS, type ChartSpec } from "./specs.ts";

/** @internal The charts of a phase: those that are known and have data, times by phase, then whatever else was logged. */
export function runCharts(series: SeriesByName): { key: Chart[]; more: Chart[] } {
  const specs = [...CHARTS, ...timings(series)];
  const known = new Set(specs.flatMap(metricsOf));
  const rest = [...series.keys()].filter((name) => !known.has(name) && !isPartOfRange(name, series));
  const draw = (all: readonly ChartSpec[]) =>
    all.map((spec) => chartOf(spec, series)).filter((chart) => chart !== undefined);
  return { key: draw(specs), more: draw(others(rest, series)) };
}

function metricsOf({ curves, band }: ChartSpec): string[] {
  return [...curves.map(({ metric }) => metric), ...(band ?? [])];
}

function chartOf({ curves, band, ...words }: ChartSpec, series: SeriesByName): Chart | undefined {
  const [low, high] = (band ?? []).map((name) => series.get(name));
  const drawn = curves.flatMap(({ metric, label }, i): Curve[] => {
    const points = series.get(metric);
    if (points === undefined) return [];
    const shaded = i === 0 && low !== undefined && high !== undefined && low.length === high.length;
    return [{ label, color: PALETTE[i % PALETTE.length]!, points, ...(shaded && { band: { low, high } }) }];
  });
  return stepChart(words, drawn);
}

const TIMES = {
  timing_s: ["Seconds per step", "Time of a step by what it went to."],
  timing_per_token_ms: [
    "Milliseconds per token",
    "Time by tokens: generation by tokens of responses, passes by all.",
  ],
} as const;

function timings(series: SeriesByName): ChartSpec[] {
  return Object.entries(TIMES).map(([prefix, [title, caption]]) => {
    const names = [...series.keys()].filter((name) => name.startsWith(`${prefix}/`));
    const total = (name: string) =>
      series.get(name)!.reduce((sum: number, [, value]: Point) => sum + value, 0);
    const largest = names.sort((a, b) => total(b) - total(a)).slice(0, PALETTE.length);
    return {
      title,
      caption,
      curves: largest.map((metric) => ({
        metric,
        label: metric.slice(prefix.length + 1).replaceAll("_", " "),
      })),
    };
  });
}

// x/min and x/max are drawn with x/mean.
function isPartOfRange(name: string, series: SeriesByName): boolean {
  return /\/(min|max)$/.test(name) && series.has(name.replace(/(min|max)$/, "mean"));
}

function others(names: readonly string[], series: SeriesByName): ChartSpec[] {
  return names.map((metric) => {
    const prefix = metric.replace(/\/mean$/, "");
    const band = [`${prefix}/min`, `${prefix}/max`] as const;
    const ranged = prefix !== metric && band.every((name) => series.has(name));
    return { title: prefix, caption: "", curves: [{ metric, label: metric }], ...(ranged && { band }) };
  });
}
