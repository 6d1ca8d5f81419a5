import { parse } from "yaml";
import { InputError } from "../../errors.ts";

/**
 * @internal `key=value` settings over what a file holds; keys are dotted, values are YAML.
 *
 * @throws {@link InputError} `ERR_INPUT` for a setting without `=`, or one that goes into what is no section
 */
export function applySettings(
  config: Readonly<Record<string, unknown>>,
  settings: readonly string[],
  source: string,
): Record<string, unknown> {
  const result = structuredClone(config) as Record<string, unknown>;
  for (const setting of settings) {
    const at = setting.indexOf("=");
    if (at < 1) {
      throw new InputError("ERR_INPUT", `--set ${setting}: expected key=value, for example rollout.n=16`);
    }
    const keys = setting.slice(0, at).split(".");
    const last = keys.pop()!;
    let place = result;
    for (const [i, key] of keys.entries()) {
      const next = place[key] ?? {};
      if (typeof next !== "object" || Array.isArray(next)) {
        const path = keys.slice(0, i + 1).join(".");
        throw new InputError(
          "ERR_INPUT",
          `--set ${setting}: expected a section at ${path}, got a value in ${source}`,
        );
      }
      place[key] = next;
      place = next as Record<string, unknown>;
    }
    place[last] = parseValue(setting, setting.slice(at + 1));
  }
  return result;
}

function parseValue(setting: string, text: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new InputError("ERR_INPUT", `--set ${setting}: ${(cause as Error).message}`, { cause });
  }
}
