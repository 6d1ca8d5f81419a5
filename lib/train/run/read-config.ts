import { dirname, resolve } from "node:path";
import type * as z from "zod";
import { readYaml } from "../config/parse.ts";
import { applySettings } from "../config/set.ts";
import { parseConfig } from "./parse.ts";

/** @internal Data and models that are made, not read. */
const MADE = /^arithmetic$/;

/**
 * @internal The config of a phase from a YAML file, with `key=value` settings over it. Some keys are paths, relative to
 * the file.
 *
 * @throws {@link InputError} `ERR_INPUT` for a file that cannot be read, or a wrong key
 */
export async function readPhaseConfig<Schema extends z.ZodType<object>>(
  schema: Schema,
  path: string,
  settings: readonly string[],
  paths: readonly string[],
): Promise<z.output<Schema>> {
  const written = applySettings(await readYaml(path), settings, path);
  const config = parseConfig(schema, written, path);
  const placed = Object.entries(config).map(([key, value]) => [
    key,
    paths.includes(key) && typeof value === "string" && !MADE.test(value)
      ? resolve(dirname(path), value)
      : value,
  ]);
  return Object.fromEntries(placed);
}
