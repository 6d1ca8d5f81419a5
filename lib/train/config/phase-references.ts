import { configReference } from "./reference.ts";
import { prmSchema } from "../prm/config.ts";
import { sftSchema } from "../sft/config.ts";

const note = (guide: string) =>
  "A key without a default may be left out unless it is required. Paths are relative to the config file. " +
  "`--set key=value` overrides a key; values are YAML.\nGenerated from the schema by `scripts/config-reference.mjs`; " +
  `what the settings mean together is in the [guide](${guide}).`;

/** @internal docs/guides/sft-config.md. */
export function sftReference(): string {
  return `${configReference(
    "Fine-tuning config",
    `Keys of the config that \`minform sft\` takes. ${note("train.md")}`,
    sftSchema,
  )}\n`;
}

/** @internal docs/guides/prm-config.md. */
export function prmReference(): string {
  return `${configReference(
    "PRM training config",
    `Keys of the config that \`minform train-prm\` takes. ${note("prm-training.md")}`,
    prmSchema,
  )}\n`;
}
