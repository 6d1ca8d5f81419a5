import { type Html, html } from "../html.ts";

/** @internal Values of a JSON object under dotted keys; lists stay whole. */
export function flattened(value: unknown, prefix = ""): [key: string, value: unknown][] {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [[prefix, value]];
  return Object.entries(value).flatMap(([key, inner]) =>
    flattened(inner, prefix === "" ? key : `${prefix}.${key}`),
  );
}

/** @internal A value as a config file has it: text in quotes where its ends could not be seen. */
export function written(value: unknown): string {
  if (value === undefined) return "-";
  return typeof value === "string" && /^\S(.*\S)?$/.test(value) ? value : JSON.stringify(value);
}

/** @internal Config and environment, folded up where they are long. */
export function settingsSection(
  config: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, unknown>>,
): Html {
  return html`<section><h2>Config</h2>${sections(config)}<h2>Environment</h2>${table(flattened(environment))}</section>`;
}

function sections(config: Readonly<Record<string, unknown>>): Html {
  const isSection = (value: unknown) => value !== null && typeof value === "object" && !Array.isArray(value);
  const entries = Object.entries(config);
  const plain = entries.filter(([, value]) => !isSection(value));
  return html`${table(plain)}<div class="settings">${entries
    .filter(([, value]) => isSection(value))
    .map(([name, value]) => html`<div><h3>${name}</h3>${table(flattened(value))}</div>`)}</div>`;
}

function table(rows: readonly (readonly [string, unknown])[]): Html | undefined {
  if (rows.length === 0) return undefined;
  return html`<div class="wide"><table><tbody>${rows.map(
    ([key, value]) => html`<tr><td>${key}</td><td class="value">${written(value)}</td></tr>`,
  )}</tbody></table></div>`;
}
