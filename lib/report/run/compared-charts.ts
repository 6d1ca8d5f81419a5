import type { Chart } from "../chart.ts";
import { type Curve, PALETTE, stepChart } from "./draw.ts";
import { combined, type Point } from "./series.ts";
import type { Setting } from "./setting.ts";
import { COMPARED, HACKING } from "./specs.ts";

/** @internal How a setting is drawn in every chart. */
export interface Look {
  readonly label: string;
  readonly color: string;
  readonly dashed: boolean;
}

/** @internal Colours first, then the same colours dashed. */
export function looksOf(settings: readonly Setting[]): Look[] {
  return settings.map(({ label }, i) => ({
    label,
    color: PALETTE[i % PALETTE.length]!,
    dashed: Math.floor(i / PALETTE.length) % 2 === 1,
  }));
}

// More areas than this over one another are a blur.
const MOST_BANDS = 4;

/** @internal One chart per metric with a curve per setting: the mean over its runs, and the range where that is legible. */
export function comparedCharts(settings: readonly Setting[]): Chart[] {
  const looks = looksOf(settings);
  return COMPARED.flatMap(([metric, title]) => {
    const curves = settings.flatMap((setting, i): Curve[] => {
      const curve = curveOf(setting, metric);
      if (curve === undefined) return [];
      const banded = settings.length <= MOST_BANDS && setting.runs.length > 1;
      return [{ ...looks[i]!, points: curve.mean, ...(banded && { band: curve }) }];
    });
    const chart = stepChart({ title, caption: metric }, curves, { legend: false });
    return chart === undefined ? [] : [chart];
  });
}

function curveOf({ series }: Setting, metric: string) {
  const found = series.map((run) => run.get(metric) ?? []).filter((points) => points.length > 0);
  return found.length === 0 ? undefined : combined(found);
}

/** @internal PRM score and pass@1, a chart per setting, all on the same scale. */
export function hackingCharts(settings: readonly Setting[]): Chart[] {
  const drawn = settings.map((setting) => ({
    setting,
    curves: HACKING.curves.flatMap(({ metric, label }, i): Curve[] => {
      const curve = curveOf(setting, metric);
      if (curve === undefined) return [];
      const shaded = setting.runs.length > 1 && { band: curve };
      return [{ label, color: PALETTE[i]!, points: curve.mean, ...shaded }];
    }),
  }));
  const values = drawn.flatMap(({ curves }) =>
    curves.flatMap(({ points, band }) => [points, band?.low ?? [], band?.high ?? []].flat()),
  );
  if (values.length === 0) return [];
  const range = rangeOf(values);
  return drawn.flatMap(({ setting, curves }) => {
    const chart = stepChart({ title: setting.label, caption: "" }, curves, { range });
    return chart === undefined ? [] : [chart];
  });
}

// To the next fifth, so that the axis has round ends.
function rangeOf(points: readonly Point[]): [number, number] {
  const values = points.map(([, value]) => value);
  return [Math.floor(5 * Math.min(0, ...values)) / 5, Math.ceil(5 * Math.max(1, ...values)) / 5];
}
