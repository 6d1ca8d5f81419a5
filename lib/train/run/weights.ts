import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../errors.ts";
import type { TrainableModel } from "../engine/model.ts";
import type { Moments, Optimizer } from "../engine/optimizer.ts";
import type { Parameter } from "../engine/parameters.ts";
import { writeWhole } from "../../atomic-file.ts";
import { type NamedTensor, readTensors, writeTensors } from "../engine/tensor-file.ts";

/**
 * Writes every parameter of a model, adapters included, into a folder: `weights.safetensors`.
 *
 * @param name - of the file, when a folder holds the weights of several models
 */
export async function saveWeights(model: TrainableModel, folder: string, name = "weights"): Promise<void> {
  writeTensors(join(folder, `${name}.safetensors`), allParameters(model));
}

/**
 * Reads what {@link saveWeights} wrote into a model of the same shape that trains the same way.
 *
 * @throws {@link InputError} `ERR_INPUT` naming the tensor that does not fit
 */
export async function loadWeights(model: TrainableModel, folder: string, name = "weights"): Promise<void> {
  await readTensors(join(folder, `${name}.safetensors`), allParameters(model));
}

/**
 * Writes the moments and the step count of an optimizer into a folder: `optimizer.safetensors`, `optimizer.json`.
 *
 * @param name - of the files, when a folder holds several optimizers
 */
export async function saveOptimizer(
  optimizer: Optimizer,
  model: TrainableModel,
  folder: string,
  name = "optimizer",
): Promise<void> {
  const parameters = model.trainable().filter((parameter) => optimizer.moments.has(parameter.name));
  writeTensors(
    join(folder, `${name}.safetensors`),
    momentTensors(parameters, (parameter) => optimizer.moments.get(parameter.name)!),
  );
  const state = { steps: optimizer.steps, parameters: parameters.map((parameter) => parameter.name) };
  writeWhole(join(folder, `${name}.json`), `${JSON.stringify(state)}\n`);
}

/**
 * Reads what {@link saveOptimizer} wrote; the model must have the same parameters in training.
 *
 * @throws {@link InputError} `ERR_INPUT` naming file and tensor
 */
export async function loadOptimizer(
  optimizer: Optimizer,
  model: TrainableModel,
  folder: string,
  name = "optimizer",
): Promise<void> {
  const path = join(folder, `${name}.json`);
  const { steps, names } = parse(await read(path), path);
  const byName = new Map(model.trainable().map((parameter) => [parameter.name, parameter]));
  const parameters = names.map((one) => {
    const found = byName.get(one);
    if (found !== undefined) return found;
    throw new InputError("ERR_INPUT", `${path}: expected parameters that train, got ${one}`);
  });
  const fresh = new Map<string, Moments>(
    parameters.map(({ name: key, data }) => [
      key,
      { first: new Float32Array(data.length), second: new Float32Array(data.length) },
    ]),
  );
  await readTensors(
    join(folder, `${name}.safetensors`),
    momentTensors(parameters, (parameter) => fresh.get(parameter.name)!),
  );
  optimizer.moments.clear();
  for (const [key, moments] of fresh) optimizer.moments.set(key, moments);
  optimizer.steps = steps;
}

function allParameters(model: TrainableModel): Iterable<NamedTensor> {
  const all = new Map(model.parameters);
  for (const parameter of model.trainable()) all.set(parameter.name, parameter);
  return all.values();
}

function momentTensors(
  parameters: readonly Parameter[],
  momentsOf: (parameter: Parameter) => Moments,
): NamedTensor[] {
  return parameters.flatMap((parameter) =>
    (["first", "second"] as const).map((part) => ({
      name: `${part}.${parameter.name}`,
      shape: parameter.shape,
      data: momentsOf(parameter)[part],
    })),
  );
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function parse(text: string, path: string): { steps: number; names: string[] } {
  try {
    const { steps, parameters } = JSON.parse(text) as { steps: unknown; parameters: unknown };
    if (Number.isSafeInteger(steps) && Array.isArray(parameters))
      return { steps: steps as number, names: parameters as string[] };
  } catch {
    // said below
  }
  throw new InputError("ERR_INPUT", `${path}: expected { steps, parameters } as JSON`);
}
