import { ArgumentError } from "../../errors.ts";
import type { PromptRow } from "../data/prompts.ts";

/** @internal Asserts at least one prompt, ids unique; gives them by id. */
export function byId(rows: readonly PromptRow[]): Map<string, PromptRow> {
  if (rows.length === 0) throw new ArgumentError("ERR_SHAPE", "rows: expected at least one prompt, got 0");
  const found = new Map(rows.map((row) => [row.id, row]));
  if (found.size < rows.length) {
    const seen = new Set<string>();
    const twice = rows.findIndex(({ id }) => seen.size === seen.add(id).size);
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `rows[${twice}].id: expected unique ids, got ${JSON.stringify(rows[twice]!.id)} again`,
    );
  }
  return found;
}

/** @internal Asserts that a report is about one of the prompts. */
export function checkKnown(rows: ReadonlyMap<string, PromptRow>, id: string): PromptRow {
  const row = rows.get(id);
  if (row === undefined)
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `id: expected one of the prompts, got ${JSON.stringify(id)}`,
    );
  return row;
}
