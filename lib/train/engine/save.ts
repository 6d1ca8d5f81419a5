import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../errors.ts";
import { type Family, type ModelConfig, parseConfig } from "../../model/config.ts";
import type { EngineHeads } from "./heads.ts";
import type { TrainableModel } from "./model.ts";
import { writeWhole } from "../../atomic-file.ts";
import { firstDifference } from "../run/difference.ts";
import { writeTensors } from "./tensor-file.ts";

/** What goes with the weights. */
export interface SaveOptions {
  /**
   * config.json as an object; what it says of the layers must be the model's. Architecture, dtype, labels and the number
   * of key heads are set to what is saved.
   */
  readonly config: Readonly<Record<string, unknown>>;
  /** A folder whose tokenizer and generation files are copied. */
  readonly tokenizerFrom?: string;
}

const CLASSES: Record<Family, string> = {
  qwen2: "Qwen2",
  qwen3: "Qwen3",
  llama: "Llama",
  mistral: "Mistral",
};

/**
 * Writes a checkpoint in Hugging Face layout: config.json, model.safetensors in float32 (a file appears whole or not at
 * all), and the tokenizer's files. Adapters must be merged first.
 *
 * @param folder - made when missing
 * @throws {@link InputError} `ERR_INPUT` when a file cannot be written, or the config is not the model's
 */
export async function saveModel(model: TrainableModel, folder: string, options: SaveOptions): Promise<void> {
  const config = savedConfig(options.config, model.config, model.heads);
  assertOwn(config, model.config, join(folder, "config.json"));
  await mkdir(folder, { recursive: true });
  writeTensors(join(folder, "model.safetensors"), model.parameters.values());
  if (options.tokenizerFrom !== undefined) await copyTokenizer(options.tokenizerFrom, folder);
  writeWhole(join(folder, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
}

function savedConfig(
  given: Readonly<Record<string, unknown>>,
  { family, kvHeads }: ModelConfig,
  heads: EngineHeads,
): Record<string, unknown> {
  const { torch_dtype: _, dtype: __, ...rest } = given;
  const { classifier } = heads;
  const task = classifier === undefined ? "ForCausalLM" : "ForTokenClassification";
  const labels = classifier && {
    id2label: Object.fromEntries(Array.from({ length: classifier.classes }, (_, i) => [i, `LABEL_${i}`])),
    label2id: Object.fromEntries(Array.from({ length: classifier.classes }, (_, i) => [`LABEL_${i}`, i])),
  };
  // Without the number other readers do not agree on what it is.
  const settled = { num_key_value_heads: kvHeads, dtype: "float32" };
  return { ...rest, ...labels, ...settled, architectures: [CLASSES[family] + task] };
}

function assertOwn(config: Record<string, unknown>, own: ModelConfig, path: string): void {
  const { architecture } = own; // says what is saved, not what the layers are
  const difference = firstDifference(own, { ...parseConfig(config, path), architecture });
  if (difference === undefined) return;
  const { key, before, after } = difference;
  throw new InputError(
    "ERR_INPUT",
    `${path}: expected the config of the model: ${key} is ${JSON.stringify(before)}, the config says ${JSON.stringify(after)}`,
  );
}

// Whatever a tokenizer may consist of, and nothing that describes weights.
const TOKENIZER =
  /^(tokenizer.*|special_tokens_map\.json|added_tokens\.json|vocab\.(json|txt)|merges\.txt|generation_config\.json|chat_template.*)$/;

async function copyTokenizer(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    if (TOKENIZER.test(name)) await copyFile(join(from, name), join(to, name));
  }
}
