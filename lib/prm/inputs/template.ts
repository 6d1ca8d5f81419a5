/** @internal Fills `{name}` places; text that is filled in is never searched again. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{([a-z]+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/**
 * @internal A step in its template. A step that already carries its own number ("Step 2: ...", where the template would
 * write it) is not numbered twice.
 */
export function fillStep(template: string, step: string, k: number): string {
  const n = String(k + 1);
  const at = template.indexOf("{step}");
  const label = fill(template.slice(0, at), { n });
  const rest = template.slice(at);
  const numbered = label.includes(n) && step.startsWith(label.trimEnd());
  return (numbered ? "" : label) + fill(rest, { step, n });
}
