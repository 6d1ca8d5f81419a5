/** @internal Markup, as against text that is still to be escaped. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** @internal What a template takes: text and numbers are escaped, markup is not, nothing is left out. */
export type Fragment = string | number | Html | undefined | readonly Fragment[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** @internal Template tag: everything put in is escaped unless it is {@link Html}. */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  return new Html(strings.reduce((text, part, i) => text + markupOf(values[i - 1]) + part));
}

function markupOf(value: Fragment): string {
  if (value === undefined) return "";
  if (value instanceof Html) return value.markup;
  if (Array.isArray(value)) return value.map(markupOf).join("");
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
