import { InputError } from "../../errors.ts";
import type { Pair } from "../presets/types.ts";

/**
 * @internal The pair that a row holds: `prediction` or `response`, and `reference`.
 *
 * @throws {@link InputError} `ERR_INPUT` naming what is missing
 */
export function rowToPair(row: Readonly<Record<string, unknown>>): Pair {
  const { prediction, response, reference } = row;
  if (typeof reference !== "string") throw new InputError("ERR_INPUT", wanted("reference", row));
  if (typeof prediction === "string") return { prediction, reference };
  if (typeof response === "string") return { response, reference };
  throw new InputError("ERR_INPUT", wanted("prediction or response", row));
}

function wanted(name: string, row: Readonly<Record<string, unknown>>): string {
  return `expected text in ${name}, got a row with ${Object.keys(row).join(", ") || "nothing"}`;
}
