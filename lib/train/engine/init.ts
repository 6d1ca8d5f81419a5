import { randomStream } from "../arithmetic/random.ts";
import type { ModelConfig } from "../../model/config.ts";
import type { Parameter } from "./parameters.ts";

/**
 * @internal Values of a fresh parameter. Norms are 1 and biases 0; weights are normal with variance 1 / inputs, those
 * that write to the residual stream divided by sqrt(2 layers), embeddings with deviation 0.02. A value depends on seed,
 * name and index alone.
 */
export function initialise({ name, shape, data }: Parameter, config: ModelConfig, seed: number): void {
  if (shape.length === 1) {
    data.fill(name.includes("norm") ? 1 : 0);
    return;
  }
  const scale = deviation(name, shape[1]!, config.layers);
  const uniform = randomStream(seed, nameKey(name));
  for (let i = 0; i < data.length; i += 2) {
    const radius = scale * Math.sqrt(-2 * Math.log(1 - uniform()));
    const angle = 2 * Math.PI * uniform();
    data[i] = radius * Math.cos(angle);
    if (i + 1 < data.length) data[i + 1] = radius * Math.sin(angle);
  }
}

function deviation(name: string, inputs: number, layers: number): number {
  if (name.endsWith("embed_tokens.weight")) return 0.02;
  const residual = name.endsWith("o_proj.weight") || name.endsWith("down_proj.weight");
  return 1 / Math.sqrt(residual ? inputs * 2 * layers : inputs);
}

// FNV-1a over the UTF-16 units.
function nameKey(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
