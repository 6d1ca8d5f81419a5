import { configReference } from "./reference.ts";
import { trainSchema } from "./schema.ts";

/** @internal docs/guides/train-config.md. */
export function trainReference(): string {
  return configReference(
    "Training config",
    [
      "Keys of the config that `minform train` takes. A key without a default may be left out unless it is required. Paths",
      "are relative to the config file. `--set rollout.n=16` overrides a key; values are YAML. Generated from the schema by",
      "`scripts/config-reference.mjs`; what the settings mean together is in the guide on [RL](rl.md).",
    ].join("\n"),
    trainSchema,
  );
}
