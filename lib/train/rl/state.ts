import { join } from "node:path";
import { mkdir } from "node:fs/promises";
import { openCheckpoint } from "../../model/index.ts";
import { readConfig } from "../engine/create.ts";
import { saveModel } from "../engine/save.ts";
import type { Json, RunCheckpoint } from "../run/folder.ts";
import { loadOptimizer, loadWeights, saveOptimizer, saveWeights } from "../run/weights.ts";
import { klController } from "./kl-controller.ts";
import type { Parts } from "./parts.ts";
import type { RlResult, TrainPlugin } from "./types.ts";

/** @internal What a checkpoint says besides its files. Nothing that is drawn needs a state: counters give it. */
export interface RunState {
  readonly ended: "guard" | null;
  readonly klCoefficient: number;
  readonly sampler: Json;
  readonly guard: Json;
  readonly plugins: Readonly<Record<string, Json>>;
  readonly before: RlResult["before"];
  readonly after: RlResult["after"];
}

/** @internal What of a run's state is not in its parts. */
export type Progress = Pick<RunState, "ended" | "before" | "after">;

/** @internal Writes models and optimisers into a folder. With all weights in training it is itself a checkpoint to load. */
export async function saveParts(parts: Parts, folder: string): Promise<void> {
  const { config, model, optimizer, critic } = parts;
  if (config.model.training === "all") await savePolicy(parts, folder);
  else await saveWeights(model, folder);
  await saveOptimizer(optimizer, model, folder);
  if (critic?.optimizer !== undefined) {
    await saveWeights(critic.model, folder, "critic");
    await saveOptimizer(critic.optimizer, critic.model, folder, "critic-optimizer");
  }
}

/** @internal Lets plugins write into folders of their own; gives their states. */
export async function savePlugins(
  plugins: readonly TrainPlugin[],
  folder: string,
): Promise<Record<string, Json>> {
  const states: Record<string, Json> = {};
  for (const plugin of plugins) {
    const own = join(folder, plugin.name);
    await mkdir(own, { recursive: true });
    states[plugin.name] = await plugin.save(own);
  }
  return states;
}

/** @internal The policy in Hugging Face layout. */
export async function savePolicy({ config, model }: Parts, folder: string): Promise<void> {
  const from = await openCheckpoint(config.model.path);
  await saveModel(model, folder, { config: await readConfig(from), tokenizerFrom: from.path });
}

/** @internal The policy alone, as a checkpoint has it. */
export async function restorePolicy({ config, model }: Parts, folder: string): Promise<void> {
  await loadWeights(model, folder, config.model.training === "all" ? "model" : "weights");
}

/** @internal The state of everything that has one. */
export function stateOf(
  { kl, sampler, guard }: Parts,
  plugins: Readonly<Record<string, Json>>,
  progress: Progress,
): RunState {
  return {
    ...progress,
    klCoefficient: kl.coefficient,
    sampler: sampler.state(),
    guard: guard?.state() ?? null,
    plugins,
  };
}

/** @internal Brings everything to where a checkpoint left it. */
export async function restore(
  parts: Parts,
  plugins: readonly TrainPlugin[],
  { folder, state }: RunCheckpoint<RunState>,
): Promise<void> {
  const { model, optimizer, critic } = parts;
  await restorePolicy(parts, folder);
  await loadOptimizer(optimizer, model, folder);
  if (critic?.optimizer !== undefined) {
    await loadWeights(critic.model, folder, "critic");
    await loadOptimizer(critic.optimizer, critic.model, folder, "critic-optimizer");
  }
  parts.kl = klController(parts.config.kl, state.klCoefficient);
  parts.sampler.restore(state.sampler);
  if (parts.guard !== undefined && state.guard !== null) parts.guard.restore(state.guard);
  for (const plugin of plugins) {
    await plugin.restore(join(folder, plugin.name), state.plugins[plugin.name] ?? null);
  }
  await parts.generator.sync?.(model);
}
