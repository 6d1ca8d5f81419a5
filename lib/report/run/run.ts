import { type Html, html } from "../html.ts";
import { count, decimal } from "../numbers.ts";
import { figure, renderPage, tiles } from "../page.ts";
import { numbersTable } from "./numbers.ts";
import { readRun, type RunData } from "./read.ts";
import { rolloutsSection } from "./rollouts.ts";
import { runCharts } from "./run-charts.ts";
import { type SeriesByName, seriesByPhase } from "./series.ts";
import { settingsSection } from "./settings.ts";

const ROLLOUT_STEPS = 8;

/**
 * A run's folder as one self-contained HTML page: curves, responses step by step, every number, config and environment.
 * The same folder gives the same bytes.
 *
 * @throws {@link InputError} `ERR_INPUT` when there is no run in the folder, or a line of its files is malformed
 */
export async function renderRunReport(folder: string): Promise<string> {
  const run = await readRun(folder, { rolloutSteps: ROLLOUT_STEPS });
  const phases = [...seriesByPhase(run.metrics)];
  return renderPage(
    `minform: ${run.name}`,
    html`<h1>${run.name}</h1><p class="note">${folder}</p>
${tiles(facts(run))}
${phases.map(([phase, series]) => phaseSection(phase, series, phases.length > 1))}
${rolloutsSection(run)}
${settingsSection(run.config, run.environment)}`,
  );
}

function phaseSection(phase: string, series: SeriesByName, several: boolean): Html {
  const { key, more } = runCharts(series);
  const charts = key.length > 0 ? key : more;
  const rest = key.length > 0 ? more : [];
  const folded = (title: string, body: Html) => html`<details><summary>${title}</summary>${body}</details>`;
  return html`<section><h2>${several ? `Curves: ${phase}` : "Curves"}</h2><div class="charts small">${charts.map(figure)}</div>
${rest.length > 0 ? folded(`${count(rest.length)} more curves`, html`<div class="charts small">${rest.map(figure)}</div>`) : undefined}
${folded(`All ${count(series.size)} metrics in numbers`, numbersTable(series))}</section>`;
}

// Shown with the value before training where there is one.
const FACTS: readonly (readonly [metric: string, label: string])[] = [
  ["eval/pass@1/greedy", "held-out pass@1, greedy"],
  ["eval/pass@1/sampled", "held-out pass@1, sampled"],
  ["eval/prm", "held-out PRM score"],
  ["eval/kl", "held-out KL"],
  ["eval/steps", "held-out steps"],
  ["eval/loss", "held-out loss"],
];

function facts({ metrics }: RunData): [string, string][] {
  const values = new Map<string, number[]>();
  for (const row of metrics)
    for (const [name, value] of Object.entries(row.metrics))
      if (value !== null) values.set(name, [...(values.get(name) ?? []), value]);
  const known = FACTS.flatMap(([metric, label]): [string, string][] => {
    const all = values.get(metric);
    if (all === undefined) return [];
    const ends = all.length === 1 ? all : [all[0]!, all.at(-1)!];
    return [[ends.map((value) => decimal(value, 2)).join(" → "), label]];
  });
  const last = metrics.at(-1);
  if (last === undefined) return known;
  return [...known, [count(last.step), "steps"], [duration(last.seconds), "time"]];
}

/** @internal Seconds in words. */
export function duration(seconds: number): string {
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
