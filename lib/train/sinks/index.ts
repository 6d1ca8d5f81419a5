import { basename, join, resolve } from "node:path";
import type { MetricSink, SinkSettings } from "./sink.ts";
import { TensorBoardSink } from "./tensorboard.ts";
import { WandbSink } from "./wandb.ts";

export type { MetricSink, SinkSettings } from "./sink.ts";

/**
 * Opens the sinks that are asked for as one; without any it is a sink that drops everything.
 *
 * @param folder - the run's folder
 * @throws {@link InputError} `ERR_INPUT` when nothing can be written there
 * @throws {@link ModelError} `ERR_DEPENDENCY` for `wandb: "online"` without the `wandb` command
 */
export function openSinks(folder: string, settings: SinkSettings = {}): MetricSink {
  const {
    tensorboard = false,
    wandb = "off",
    name = basename(resolve(folder)),
    project = "minform",
    config,
    resumedAfter,
  } = settings;
  const sinks: MetricSink[] = [];
  if (tensorboard) sinks.push(new TensorBoardSink(join(folder, "tensorboard"), resumedAfter));
  if (wandb !== "off")
    sinks.push(
      new WandbSink(join(folder, "wandb"), {
        name,
        project,
        config,
        online: wandb === "online",
        resumedAfter,
      }),
    );
  return {
    log(step, metrics) {
      for (const sink of sinks) sink.log(step, metrics);
    },
    async close() {
      for (const sink of sinks) await sink.close();
    },
  };
}
