import { Html, html } from "../html.ts";
import { count } from "../numbers.ts";
import { figure, renderPage, tableBlock, type TextTable } from "../page.ts";
import { variableOf } from "../svg.ts";
import { comparedCharts, hackingCharts, type Look, looksOf } from "./compared-charts.ts";
import { finalTable, runTable, setupTable } from "./final-table.ts";
import { readRun } from "./read.ts";
import { type ComparedRun, type Setting, settingsOf } from "./setting.ts";
import { flattened, written } from "./settings.ts";

/** The last numbers of runs as a table, as {@link renderComparison} shows it. */
export async function comparisonTable(runs: readonly ComparedRun[]): Promise<TextTable> {
  return finalTable(await readSettings(runs));
}

async function readSettings(runs: readonly ComparedRun[]): Promise<Setting[]> {
  const read = await Promise.all(
    runs.map(async ({ label, folder }) => ({ ...(await readRun(folder)), label })),
  );
  return settingsOf(read);
}

/** Options of {@link renderComparison}. */
export interface ComparisonOptions {
  /** What went before the runs: last held-out numbers are told, e.g. the quality of their PRMs. */
  readonly setup?: readonly ComparedRun[];
}

/**
 * Runs side by side as one self-contained HTML page: last numbers, curves over one another, PRM score beside pass@1, what
 * their configs differ in. Runs with one label count as seeds of one setting: their mean is drawn and their deviation told.
 *
 * @throws {@link InputError} `ERR_INPUT` when there is no run in a folder, or a line of its files is malformed
 */
export async function renderComparison(
  title: string,
  runs: readonly ComparedRun[],
  { setup = [] }: ComparisonOptions = {},
): Promise<string> {
  const settings = await readSettings(runs);
  const hacking = hackingCharts(settings);
  const several = settings.some((setting) => setting.runs.length > 1);
  return renderPage(
    `minform: ${title}`,
    html`<h1>${title}</h1><p class="note">${count(settings.length)} settings, ${count(runs.length)} runs</p>
<section>${tableBlock(finalTable(settings))}${several ? html`<p class="note">Mean ± standard deviation over the runs of a setting.</p>` : undefined}</section>
${
  hacking.length > 0
    ? html`<section><h2>PRM score and pass@1</h2><p class="note">Held-out prompts, all on one scale. Where the PRM's score rises and right answers become fewer, the policy has learned to please the PRM.${several ? " Area: from the lowest to the highest run." : ""}</p><div class="charts small">${hacking.map(figure)}</div></section>`
    : undefined
}
<section><h2>Curves</h2>${legend(looksOf(settings))}<div class="charts small">${comparedCharts(settings).map(figure)}</div></section>
${differences(settings)}
${several ? html`<section>${tableBlock(runTable(settings))}</section>` : undefined}
${setup.length > 0 ? html`<section>${tableBlock(setupTable(await readSettings(setup)))}</section>` : undefined}`,
  );
}

function legend(looks: readonly Look[]): Html {
  return html`<p class="legend">${looks.map(
    ({ label, color, dashed }) =>
      html`<span><svg viewBox="0 0 28 8" aria-hidden="true"><path d="M0 4H28" ${new Html(`stroke="var(--${variableOf(color)})"`)} stroke-width="2.5"${dashed ? new Html(' stroke-dasharray="6 4"') : undefined}/></svg>${label}</span> `,
  )}</p>`;
}

// Keys in which settings differ; of a setting's seeds the first stands for all.
function differences(settings: readonly Setting[]): Html | undefined {
  const configs = settings.map(({ runs }) => new Map(flattened(runs[0]!.config)));
  const keys = [...new Set(configs.flatMap((config) => [...config.keys()]))].filter(
    (key) => key !== "name" && new Set(configs.map((config) => written(config.get(key)))).size > 1,
  );
  if (keys.length === 0) return undefined;
  return html`<section><h2>What differs</h2><div class="wide"><table><thead><tr><th></th>${keys.map((key) => html`<th>${key}</th>`)}</tr></thead>
<tbody>${settings.map(
    ({ label }, i) =>
      html`<tr><td>${label}</td>${keys.map((key) => html`<td>${written(configs[i]!.get(key))}</td>`)}</tr>`,
  )}</tbody></table></div></section>`;
}
