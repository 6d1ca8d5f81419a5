import { type Html, html } from "./html.ts";
import { decimal } from "./numbers.ts";

/** @internal A cell coloured by sign, stronger the larger the value is against the scale. */
export function signedCell(value: number, scale: number): Html {
  return shadedCell(value < 0 ? "negative" : "positive", Math.abs(value) / scale, decimal(value));
}

/** @internal A cell in a colour of the page, as strong as said (0 to 1). */
export function shadedCell(color: string, strength: number, text: string): Html {
  return html`<td class="cell" style="${shade(color, strength)}">${text}</td>`;
}

/** @internal The style of a thing with class `cell`, `key` or `strip`. */
export function shade(color: string, strength: number): string {
  return `--c:var(--${color});--a:${Math.round(65 * Math.min(1, strength))}%`;
}

/** @internal What colours of cells mean. */
export function cellKey(scope: string): Html {
  return html`Cells are <span class="key" style="${shade("positive", 60 / 65)}">positive</span> or <span class="key" style="${shade("negative", 60 / 65)}">negative</span>, stronger the larger they are within ${scope}; weights are <span class="key" style="${shade("weight", 60 / 65)}">shares of 1</span>.`;
}

/** @internal The largest absolute value, for scales; 1 when there is none but 0. */
export function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
}
