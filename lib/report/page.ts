import type { Chart } from "./chart.ts";
import { Html, html } from "./html.ts";
import { STYLE } from "./style.ts";

/** @internal A whole page: one file, no scripts, nothing loaded from elsewhere. */
export function renderPage(title: string, body: Html): string {
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title><style>${new Html(STYLE)}</style></head><body>
${body}
</body></html>
`;
  return page.markup;
}

/** @internal A chart with its words. */
export function figure({ title, caption, svg }: Chart): Html {
  return html`<figure><h3>${title}</h3>${new Html(svg)}<figcaption>${caption}</figcaption></figure>`;
}

/** @internal Large numbers with what they are. */
export function tiles(facts: readonly (readonly [value: string, label: string])[]): Html {
  return html`<div class="tiles">${facts.map(
    ([value, label]) => html`<div class="tile"><b>${value}</b><span>${label}</span></div>`,
  )}</div>`;
}

/** @internal A table in words; the first column is text, the others are numbers. */
export interface TextTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** @internal A table with its title. */
export function tableBlock({ title, head, rows }: TextTable): Html {
  return html`<h3>${title}</h3><div class="wide"><table class="numbers"><thead><tr>${head.map((cell) => html`<th>${cell}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div><br>`;
}
