/** What a page could load or run. Text is escaped, so a "<" begins a tag. */
export const REACHES_OUT =
  /<(script|link|img|iframe|object|embed|use)\b|<[^>]*(https?:|\son\w+=)|@import|url\((?!#)/i;

/** Elements that are opened and not closed, or the other way round. */
export function unbalanced(markup: string): string[] {
  const open: string[] = [];
  for (const [, slash, name, self] of markup.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:\s[^<>]*?)?(\/?)>/gi)) {
    if (self || ["meta", "br"].includes(name!)) continue;
    if (!slash) open.push(name!);
    else if (open.at(-1) === name) open.pop();
    else return [...open, `/${name}`];
  }
  return open;
}

/** Text that would be markup if it were not escaped. */
export const EVIL = `</td></svg><script>alert(1)</script><img src=x onerror=alert(2)>"'&`;
