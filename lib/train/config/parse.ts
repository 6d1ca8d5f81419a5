import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parse } from "yaml";
import { InputError } from "../../errors.ts";
import { checkConfig } from "./check.ts";
import { parseConfig } from "../run/parse.ts";
import { resolvePaths } from "./paths.ts";
import { type TrainConfig, type TrainConfigInput, trainSchema } from "./schema.ts";
import { applySettings } from "./set.ts";

/**
 * Checks a config and fills in its defaults.
 *
 * @param source - what messages call it
 * @throws {@link InputError} `ERR_INPUT` naming every wrong key, what was expected and, for a key that is not known, the
 * one that was probably meant
 */
export function parseTrainConfig(config: TrainConfigInput, source = "config"): TrainConfig {
  const resolved = parseConfig(trainSchema, config, source);
  checkConfig(resolved, source);
  return resolved;
}

/** Options of {@link readTrainConfig}. */
export interface ReadTrainConfigOptions {
  /** `key=value` with a dotted key; the value is YAML. */
  readonly set?: readonly string[];
}

/**
 * Reads a config from a YAML (or JSON) file. Paths in it are relative to the file.
 *
 * @throws {@link InputError} `ERR_INPUT` for a file that cannot be read, is no YAML, or holds a wrong key
 */
export async function readTrainConfig(
  path: string,
  options: ReadTrainConfigOptions = {},
): Promise<TrainConfig> {
  const value = await readYaml(path);
  const written = applySettings(value, options.set ?? [], path);
  return resolvePaths(parseTrainConfig(written as TrainConfigInput, path), dirname(path));
}

/** @internal A YAML file that holds an object. */
export async function readYaml(path: string): Promise<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parse(await readFile(path, "utf8"));
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: ${(cause as Error).message}`, { cause });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new InputError(
      "ERR_INPUT",
      `${path}: expected keys and values, got ${value === null ? "nothing" : typeof value}`,
    );
  }
  return value as Record<string, unknown>;
}
