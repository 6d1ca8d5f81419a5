import type * as z from "zod";
import { InputError } from "../../errors.ts";
import { explain } from "../config/explain.ts";

/** @internal Checks a config and fills in its defaults; throws an {@link InputError} that names every wrong key. */
export function parseConfig<Schema extends z.ZodType>(
  schema: Schema,
  config: unknown,
  source: string,
): z.output<Schema> {
  const result = schema.safeParse(config);
  if (result.success) return result.data;
  throw new InputError("ERR_INPUT", explain(result.error, schema, source));
}
