import { join } from "node:path";
import type { Json, RunFolder } from "../run/folder.ts";
import { atStep } from "../run/at-step.ts";
import { evaluate } from "./evaluate.ts";
import { IdleWatch } from "./idle.ts";
import type { Parts } from "./parts.ts";
import {
  restore,
  restorePolicy,
  type RunState,
  savePlugins,
  saveParts,
  savePolicy,
  stateOf,
} from "./state.ts";
import { type StepResult, trainStep } from "./step.ts";
import type { RlOptions, RlResult, TrainPlugin } from "./types.ts";

/** @internal A run from its start or its last checkpoint to its end. */
export class Run {
  private step = 0;
  private saved = 0;
  private lastFolder: string | undefined;
  private ended: RunState["ended"] = null;
  private before: RlResult["before"] = {};
  private after: RlResult["after"] = {};
  private readonly plugins: readonly TrainPlugin[];
  private readonly idle: IdleWatch;

  constructor(
    private readonly parts: Parts,
    private readonly files: RunFolder,
    private readonly options: RlOptions,
  ) {
    this.plugins = options.hooks?.plugins ?? [];
    this.idle = new IdleWatch(parts.config, (message) => options.hooks?.onWarning?.(message));
  }

  /** Trains to the last step, to an abort, or to where the guard ends it, and saves the policy. */
  async toEnd(model: string): Promise<RlResult> {
    const { config } = this.parts;
    await this.start();
    while (this.step < config.steps && this.ended === null && this.options.signal?.aborted !== true) {
      await this.advance(this.step + 1);
    }
    this.idle.end(this.step);
    if (this.saved < this.step) await this.checkpoint();
    const ended = this.ended ?? (this.step === config.steps ? "done" : "interrupted");
    if (config.model.training !== "all") this.parts.model.mergeAdapters();
    await savePolicy(this.parts, model);
    return { step: this.step, ended, model, before: this.before, after: this.after, config };
  }

  private async start(): Promise<void> {
    const last = this.files.latest<RunState>();
    if (last === undefined) {
      if (!this.parts.config.eval.before) return;
      this.before = this.after = await atStep(0, () => evaluate(this.parts));
      if (Object.keys(this.before).length > 0) await this.log(0, this.before);
      return;
    }
    await restore(this.parts, this.plugins, last);
    this.step = this.saved = last.step;
    this.lastFolder = last.folder;
    ({ ended: this.ended, before: this.before, after: this.after } = last.state);
  }

  private async advance(step: number): Promise<void> {
    const { config } = this.parts;
    const result = await atStep(step, () => trainStep(this.parts, step));
    Object.assign(result.metrics, await this.runPlugins(step, result));
    await this.guard(step, result.metrics);
    this.idle.see(step, result.rollouts, result.scores);
    this.step = step;
    const isLast = step === config.steps || this.ended !== null;
    if (isLast || due(step, config.eval.every)) {
      const measured = await atStep(step, () => evaluate(this.parts));
      this.after = measured;
      if (Object.keys(this.before).length === 0) this.before = measured;
      Object.assign(result.metrics, measured);
    }
    this.files.rollouts(step, result.records);
    await this.log(step, result.metrics);
    if (due(step, config.checkpoint.every)) await this.checkpoint();
  }

  private async runPlugins(step: number, { rollouts, rewards }: StepResult): Promise<Record<string, number>> {
    const { model, codec } = this.parts;
    const { stepEnds, steps: stepRewards, verified } = rewards;
    const { signal } = this.options;
    const context = { step, rollouts, stepEnds, stepRewards, verified, model, codec, signal };
    const metrics: Record<string, number> = {};
    for (const plugin of this.plugins) Object.assign(metrics, await plugin.afterStep(context));
    return metrics;
  }

  private async guard(step: number, metrics: Record<string, number>): Promise<void> {
    const { guard } = this.parts;
    if (guard === undefined) return;
    const verdict = guard.check(step, metrics);
    metrics["guard/alarm"] = verdict === undefined ? 0 : 1;
    if (verdict === undefined) return;
    this.options.hooks?.onWarning?.(`step ${step}: ${verdict.action}: ${verdict.reason}`);
    if (verdict.action === "alarm") return;
    this.ended = "guard";
    if (verdict.action === "rollback" && this.lastFolder !== undefined) {
      await restorePolicy(this.parts, this.lastFolder);
    }
  }

  private async log(step: number, metrics: Readonly<Record<string, number>>): Promise<void> {
    this.files.log(step, metrics);
    for (const sink of this.options.hooks?.sinks ?? []) await sink.log(step, metrics);
    this.options.onProgress?.({ phase: "rl", step, steps: this.parts.config.steps, metrics });
  }

  private async checkpoint(): Promise<void> {
    const { ended, before, after, step } = this;
    const plugins: Record<string, Json> = {};
    // Plugins say what goes into the state while their files are written, and the state is written after them.
    const state = { ...stateOf(this.parts, plugins, { ended, before, after }) };
    await this.files.checkpoint(
      step,
      async (folder) => {
        await saveParts(this.parts, folder);
        Object.assign(plugins, await savePlugins(this.plugins, folder));
      },
      state,
    );
    this.saved = step;
    this.lastFolder = join(this.files.path, "checkpoints", `step-${String(step).padStart(6, "0")}`);
  }
}

const due = (step: number, every: number): boolean => every > 0 && step % every === 0;
