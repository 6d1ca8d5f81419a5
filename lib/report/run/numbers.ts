import { Html, html } from "../html.ts";
import { type Point, type SeriesByName, thinned } from "./series.ts";

/** @internal A number of any size with a few significant digits, fewer decimals where it has an exponent; a dash for none. */
export function significant(value: number | undefined, digits = 4, decimals = 2): string {
  if (value === undefined || !Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(decimals);
  return String(Number(value.toPrecision(digits)));
}

/** @internal Every metric of a phase: its curve, where it began, ended, and its range. */
export function numbersTable(series: SeriesByName): Html {
  const names = [...series.keys()].sort();
  return html`<div class="wide"><table class="numbers"><thead><tr><th>metric</th>${["curve", "points", "first", "last", "lowest", "highest"].map((head) => html`<th>${head}</th>`)}</tr></thead>
<tbody>${names.map((name) => numberRow(name, series.get(name)!))}</tbody></table></div>`;
}

function numberRow(name: string, points: readonly Point[]): Html {
  const values = points.map(([, value]) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const cells = [values[0], values.at(-1), low, high].map((value) => significant(value));
  return html`<tr><td>${name}</td><td>${sparkline(points)}</td><td>${points.length}</td>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`;
}

const WIDTH = 120;
const HEIGHT = 22;

// Small enough to draw without a chart.
function sparkline(points: readonly Point[]): Html | undefined {
  if (points.length < 2) return undefined;
  const some = thinned(points);
  const values = some.map(([, value]) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [from, to] = [some[0]![0], some.at(-1)![0]];
  const path = some
    .map(([step, value]) => {
      const x = ((step - from) / (to - from || 1)) * WIDTH;
      const y = high === low ? HEIGHT / 2 : HEIGHT - 2 - ((value - low) / (high - low)) * (HEIGHT - 4);
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    })
    .join(" ");
  return new Html(
    `<svg class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true"><polyline points="${path}" fill="none" stroke="var(--chosen)" stroke-width="1.5"/></svg>`,
  );
}
