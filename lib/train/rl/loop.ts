import { join } from "node:path";
import { parseTrainConfig } from "../config/parse.ts";
import type { TrainConfigInput } from "../config/schema.ts";
import { RunFolder } from "../run/folder.ts";
import { openRunSinks } from "../run/sinks.ts";
import { configHooks } from "./config-hooks.ts";
import { openParts } from "./parts.ts";
import { Run } from "./run.ts";
import type { RlOptions, RlResult } from "./types.ts";

/**
 * Fine-tunes a policy by RL with process and verifiable rewards, as PURE does: every step draws `rollout.n` responses to
 * `rollout.prompts` prompts, scores their steps by a PRM and their answers by a verifier, credits the steps, takes
 * advantages, and updates the policy.
 *
 * Everything that is drawn depends on the seed, the step, the prompt and the sample number. So a run that was killed at
 * any point goes on with `resume` to the bits of an unbroken one: weights, optimiser, metrics (but for times).
 *
 * @param config - see the config reference; paths are relative to the working directory
 * @param options - `folder` gets config, metrics, rollouts, checkpoints, and the trained policy under `model`; an abort
 * of `signal` lets the step under way finish, and saves
 * @throws {@link InputError} `ERR_INPUT` for a wrong config, file or row, or a disk that is full; {@link NumericError}
 * `ERR_NOT_FINITE` when weights, losses or gradients are not finite, naming the step: the last checkpoint is intact
 */
export async function trainRl(config: TrainConfigInput, options: RlOptions): Promise<RlResult> {
  const resolved = parseTrainConfig(config);
  const { folder, resume = false } = options;
  const hooks = await configHooks(resolved, options.hooks ?? {});
  const parts = await openParts(resolved, hooks);
  try {
    using files = await RunFolder.open(folder, {
      phase: "rl",
      config: resolved,
      resume,
      keep: resolved.checkpoint.keep,
    });
    const sinks = [openRunSinks(resolved, files), ...(hooks.sinks ?? [])];
    try {
      const run = new Run(parts, files, { ...options, hooks: { ...hooks, sinks } });
      return await run.toEnd(join(folder, "model"));
    } finally {
      for (const sink of sinks) await sink.close();
    }
  } finally {
    await parts.sources.training.answers?.close();
    // A scorer of the caller's is the caller's to close.
    if (hooks.scorer === undefined) await parts.sources.evaluation.scorer?.close?.();
    await parts.generator.close?.();
  }
}
