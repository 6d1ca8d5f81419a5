import type { AdvantagesResults, FormSummary, GeneratorSummary } from "../rollouts/index.ts";
import { charts } from "./charts.ts";
import { type Html, html } from "./html.ts";
import { metricSections, type MetricSection, pairAgreement } from "./metrics.ts";
import { count, decimal, percent } from "./numbers.ts";
import { figure, renderPage, tiles } from "./page.ts";
import { solutionsSection } from "./solutions.ts";

/**
 * The results of a job as one self-contained HTML page: charts as inline SVG, no scripts, nothing loaded from
 * elsewhere. The same results give the same bytes.
 */
export function renderReport(results: AdvantagesResults): string {
  const { summary, name } = results;
  const forms = summary.forms.map(({ form }) => form);
  return renderPage(
    `minform: ${name}`,
    html`<h1>${forms[0]} beside ${forms[1]}</h1><p class="note">${name}</p>
${overview(results)}
<section><h2>Charts</h2><div class="charts">${charts(summary).map(figure)}</div></section>
<section><h2>Models</h2>${modelTable(summary.generators, forms)}</section>
${solutionsSection(results)}
<section><h2>Numbers</h2>${metricSections(results).map((section) => metricTable(section, forms))}</section>
<section><h2>Settings</h2>${settingsTable(results)}</section>
${badLines(results)}`,
  );
}

function overview({ summary }: AdvantagesResults): Html {
  const { answers, forms } = summary;
  const both = (show: (form: FormSummary) => string) => forms.map(show).join(" / ");
  const facts: [string, string][] = [
    [`${count(summary.rollouts)} in ${count(summary.groups)}`, "solutions, groups"],
    [percent(answers.right / answers.known), "right answers"],
    [both(({ area }) => decimal(area, 3)), "AUC of outcome against right answers"],
    [both((form) => percent(pairAgreement(form))), "pairs of a group with right above wrong"],
    [both(({ outcomePerStep }) => decimal(outcomePerStep, 2)), "outcome per extra sound step"],
  ];
  const names = forms.map(({ form }) => form).join(" / ");
  return html`${tiles(facts)}<p class="note">Two numbers: ${names}.</p>`;
}

function modelTable(generators: readonly GeneratorSummary[], forms: readonly string[]): Html {
  const heads = ["outcome", "advantage", "AUC"].flatMap((what) => forms.map((form) => `${what}, ${form}`));
  return html`<div class="wide"><table class="numbers"><thead><tr><th>model</th><th>solutions</th><th>right</th><th>steps</th>${heads.map((head) => html`<th>${head}</th>`)}</tr></thead>
<tbody>${generators.map(modelRow)}</tbody></table></div>`;
}

function modelRow({ name, rollouts, right, known, steps, forms }: GeneratorSummary): Html {
  const values = (["outcome", "advantage", "area"] as const).flatMap((key) =>
    forms.map((form) => decimal(form[key], 3)),
  );
  const cells = [count(rollouts), percent(right / known), decimal(steps, 1), ...values];
  return html`<tr><td>${name}</td>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`;
}

function metricTable({ title, rows }: MetricSection, forms: readonly string[]): Html {
  const split = rows.some(({ values }) => values.length === 2);
  return html`<h3>${title}</h3><div class="wide"><table class="metrics">${
    split ? html`<thead><tr><th></th>${forms.map((form) => html`<th>${form}</th>`)}</tr></thead>` : undefined
  }<tbody>${rows.map(
    ({ name, values }) =>
      html`<tr><td>${name}</td>${values.map((value) => html`<td colspan="${split ? 3 - values.length : 1}">${value}</td>`)}</tr>`,
  )}</tbody></table></div><br>`;
}

function settingsTable({ settings }: AdvantagesResults): Html {
  return html`<table><tbody>${Object.entries(settings).map(
    ([key, value]) => html`<tr><td>${key}</td><td>${String(value)}</td></tr>`,
  )}</tbody></table>`;
}

function badLines({ summary: { badLines: lines, badLineCount } }: AdvantagesResults): Html | undefined {
  if (badLineCount === 0) return undefined;
  return html`<section><h2>Bad lines</h2><p>${count(badLineCount)} lines were left out${
    badLineCount > lines.length ? `; the first ${lines.length}` : ""
  }:</p><table><tbody>${lines.map(({ line, reason }) => html`<tr><td>${line}</td><td>${reason}</td></tr>`)}</tbody></table></section>`;
}
