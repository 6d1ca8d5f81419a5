import type * as z from "zod";
import type { sinkShape } from "../config/log.ts";
import { type MetricSink, openSinks } from "../sinks/index.ts";
import type { RunFolder } from "./folder.ts";

/** @internal What of a config says where metrics go. */
export interface LogConfig {
  readonly name: string;
  readonly log: z.output<z.ZodObject<typeof sinkShape>>;
}

/** @internal The sinks that a config asks for, in the run's folder. */
export function openRunSinks(config: LogConfig, run: RunFolder): MetricSink {
  const { tensorboard, wandb, wandbProject: project } = config.log;
  const last = run.latest();
  const resumed = last === undefined ? {} : { resumedAfter: last.step };
  return openSinks(run.path, { tensorboard, wandb, project, name: config.name, config, ...resumed });
}
