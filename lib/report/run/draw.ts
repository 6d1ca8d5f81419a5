import { axis, type Chart, GRID, LEGEND, line } from "../chart.ts";
import { type ChartOption, INK, renderSvg } from "../svg.ts";
import { significant } from "./numbers.ts";
import { type Point, thinned } from "./series.ts";

/** @internal Colours of curves, in their order. */
export const PALETTE = [
  INK.chosen,
  INK.sum,
  INK.right,
  INK.violet,
  INK.rose,
  INK.teal,
  INK.gold,
  INK.faint,
] as const;

/** @internal A curve with the words of the legend. */
export interface Curve {
  readonly label: string;
  readonly color: string;
  readonly points: readonly Point[];
  readonly dashed?: boolean;
  /** Shaded between these two, which have the same steps. */
  readonly band?: { readonly low: readonly Point[]; readonly high: readonly Point[] };
}

const WIDTH = 400;
const HEIGHT = 230;

/** @internal How a chart differs from the usual. */
export interface StepChartOptions {
  /** Ends of the value axis. Default: as the curves need. */
  readonly range?: readonly [low: number, high: number];
  /** False where the page has a legend for all charts. Default: with more than one curve. */
  readonly legend?: boolean;
}

/** @internal A chart of curves over steps; undefined when none has a point. */
export function stepChart(
  { title, caption }: { readonly title: string; readonly caption: string },
  curves: readonly Curve[],
  options: StepChartOptions = {},
): Chart | undefined {
  const drawn = curves.filter(({ points }) => points.length > 0);
  if (drawn.length === 0) return undefined;
  return { title, caption, svg: renderSvg(option(drawn, options), WIDTH, HEIGHT, plain(title)) };
}

function option(
  curves: readonly Curve[],
  { range, legend = curves.length > 1 }: StepChartOptions,
): ChartOption {
  return {
    grid: { ...GRID, left: 52, top: legend ? 16 + 20 * legendRows(curves) : 14, bottom: 40 },
    ...(legend && {
      legend: { ...LEGEND, itemGap: 12, itemWidth: 20, data: curves.map(({ label }) => label) },
    }),
    xAxis: axis("step", {
      nameGap: 24,
      minInterval: 1,
      min: "dataMin",
      max: "dataMax",
      splitLine: { show: false },
    }),
    yAxis: axis("", {
      scale: true,
      splitNumber: 4,
      axisLabel: { color: INK.faint, formatter: (value: number) => significant(value, 3, 0) },
      ...(range && { min: range[0], max: range[1], interval: 0.2 }),
    }),
    series: curves.flatMap((curve, i) => [...bandOf(curve, i), lineOf(curve)]),
  };
}

function lineOf({ label, color, points, dashed }: Curve): object {
  const drawn = line(label, color, thinned(points), dashed ? "dashed" : "solid");
  return { ...drawn, symbolSize: 4, showSymbol: points.length <= 24 };
}

// An area between two curves: the lower one, unseen, with the distance stacked on it.
function bandOf({ band, color }: Curve, index: number): object[] {
  if (band === undefined) return [];
  const [low, high] = [thinned(band.low), thinned(band.high)];
  const part = (data: readonly Point[], more: object) => ({
    type: "line",
    stack: `band ${index}`,
    stackStrategy: "all",
    data,
    symbol: "none",
    lineStyle: { width: 0 },
    ...more,
  });
  return [
    part(low, {}),
    part(
      low.map(([step, value], i): Point => [step, high[i]![1] - value]),
      { areaStyle: { color, opacity: 0.16 } },
    ),
  ];
}

// Where the legend's words break into another row, by their length.
function legendRows(curves: readonly Curve[]): number {
  let rows = 1;
  let width = 0;
  for (const { label } of curves) {
    const own = 38 + 6.6 * label.length;
    if (width > 0 && width + own > WIDTH - 20) {
      rows++;
      width = 0;
    }
    width += own;
  }
  return rows;
}

// A title may hold a name from a file; a label goes into the markup as it is.
function plain(title: string): string {
  return title.replace(/[^\w@ ]+/g, " ");
}
