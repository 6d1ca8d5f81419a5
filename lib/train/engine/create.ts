import { join } from "node:path";
import { ArgumentError, InputError } from "../../errors.ts";
import { type Checkpoint, readJson } from "../../model/checkpoint.ts";
import { type ModelConfig, parseConfig } from "../../model/config.ts";
import { describeDecoder, takeTensor } from "../../model/decoder.ts";
import { readTensorBytes, type WeightType } from "../../model/safetensors.ts";
import { toFloat32 } from "../../model/weights.ts";
import { assertCount } from "../../validate.ts";
import type { EngineHeads } from "./heads.ts";
import { initialise } from "./init.ts";
import { TrainableModel } from "./model.ts";
import type { Parameter } from "./parameters.ts";

/** Options of {@link createModel} and {@link loadModel}. */
export interface ModelOptions {
  /** What stands on the backbone. */
  readonly heads: EngineHeads;
  /** Seed of fresh parameters; an integer >= 0. Default 0. */
  readonly seed?: number;
}

/**
 * A model from scratch: norms 1, biases 0, weights normal with variance 1 / inputs (projections back into the residual
 * stream divided by sqrt(2 layers)), embeddings with deviation 0.02. Same seed, same bits.
 *
 * @param config - the parsed config, or config.json as an object
 * @throws {@link ArgumentError}; {@link InputError} `ERR_INPUT` for a config that is not understood
 */
export function createModel(
  config: ModelConfig | Record<string, unknown>,
  options: ModelOptions,
): TrainableModel {
  const parsed = isParsed(config) ? config : parseConfig(config, "config");
  const model = new TrainableModel(parsed, options.heads);
  const seed = checkSeed(options);
  for (const parameter of model.parameters.values()) initialise(parameter, parsed, seed);
  return model;
}

/**
 * A model from a checkpoint, widened to float32. Heads that the checkpoint does not hold start fresh, as in
 * {@link createModel}; an LM head that is neither stored nor tied is an error.
 *
 * @param checkpoint - an opened checkpoint
 * @throws {@link InputError} `ERR_INPUT` naming a tensor that is missing or does not fit
 */
export async function loadModel(checkpoint: Checkpoint, options: ModelOptions): Promise<TrainableModel> {
  const { config, tensors, path } = checkpoint;
  const { prefix } = describeDecoder(checkpoint);
  const model = new TrainableModel(config, options.heads);
  const seed = checkSeed(options);
  for (const parameter of model.parameters.values()) {
    const name = storedName(parameter.name, prefix);
    const isBackbone = parameter.name.startsWith("model.");
    if (!tensors.has(name) && !isBackbone) {
      if (parameter.name === "lm_head.weight") {
        throw new InputError(
          "ERR_INPUT",
          `${path}: expected tensor ${name}, found none, and the embeddings are not tied`,
        );
      }
      initialise(parameter, config, seed);
      continue;
    }
    await read(checkpoint, name, parameter);
  }
  return model;
}

/** config.json of a checkpoint as an object, for {@link saveModel}. */
export async function readConfig(checkpoint: Checkpoint): Promise<Record<string, unknown>> {
  return (await readJson(join(checkpoint.path, "config.json"))) as Record<string, unknown>;
}

// Files may put something before the names, or leave "model." out.
function storedName(name: string, prefix: string): string {
  return name.startsWith("model.")
    ? prefix + name.slice("model.".length)
    : prefix.replace(/model\.$/, "") + name;
}

async function read(checkpoint: Checkpoint, name: string, parameter: Parameter): Promise<void> {
  const entry = takeTensor(checkpoint, name, parameter.shape);
  const CHUNK = 1 << 26; // bytes; a multiple of every element size
  for (let from = 0; from < entry.length; from += CHUNK) {
    const bytes = await readTensorBytes(entry, from, Math.min(CHUNK, entry.length - from));
    const width = entry.type === "float32" ? 4 : 2;
    parameter.data.set(toFloat32(bytes, entry.type as WeightType), from / width);
  }
}

function isParsed(config: ModelConfig | Record<string, unknown>): config is ModelConfig {
  if (config === null || typeof config !== "object") {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `config: expected an object, got ${String(config)}`);
  }
  return "hiddenSize" in config;
}

function checkSeed({ seed = 0 }: ModelOptions): number {
  assertCount(seed, "seed");
  return seed;
}
