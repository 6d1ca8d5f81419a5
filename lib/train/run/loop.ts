import type { RunFolder } from "./folder.ts";
import { atStep } from "./at-step.ts";
import type { PhaseOptions } from "./progress.ts";
import { type LogConfig, openRunSinks } from "./sinks.ts";

/** @internal What a phase does, step by step. */
export interface StepLoop {
  readonly run: RunFolder;
  readonly phase: string;
  /** Says where metrics go besides metrics.jsonl. */
  readonly config: LogConfig;
  /** Steps done already. */
  readonly from: number;
  /** Steps in all. */
  readonly steps: number;
  /** Steps between checkpoints; the last step has one anyway. */
  readonly checkpointEvery: number;
  /** Does a step, from 1 on; returns its metrics. */
  step(step: number): Promise<Record<string, number>>;
  /** What part of the phase the step just done was of, where it has parts. */
  part?(): string;
  /** Writes what the phase needs to go on. */
  save(folder: string): Promise<void>;
  /** JSON that goes with it. */
  state(): unknown;
}

/**
 * @internal Runs the steps that are left: each is logged, and reported once it is. A signal ends the run after the step
 * under way, which is saved; the promise then rejects with `signal.reason`, unless it was the last step.
 */
export async function runSteps(
  loop: StepLoop,
  { signal, onProgress }: Pick<PhaseOptions, "signal" | "onProgress">,
): Promise<void> {
  const { run, phase, steps, checkpointEvery } = loop;
  if (loop.from >= steps) return;
  const sink = openRunSinks(loop.config, run);
  try {
    for (let step = loop.from + 1; step <= steps; step++) {
      const metrics = await atStep(step, () => loop.step(step));
      run.log(step, metrics);
      sink.log(step, metrics);
      onProgress?.({ phase, ...(loop.part && { part: loop.part() }), step, steps, metrics });
      const isLast = step === steps;
      const isStopped = signal?.aborted === true;
      if (isLast || isStopped || (checkpointEvery > 0 && step % checkpointEvery === 0))
        await run.checkpoint(step, (folder) => loop.save(folder), loop.state());
      if (isStopped && !isLast) signal.throwIfAborted();
    }
  } finally {
    await sink.close();
  }
}
