import * as z from "zod";
import { choice, section, text } from "./fields.ts";

/** @internal Where metrics go besides metrics.jsonl. */
export const sinkShape = {
  tensorboard: z.boolean().default(false).describe("Write TensorBoard event files too."),
  wandb: choice(["off", "offline", "online"]).default("off").describe("Weights & Biases."),
  wandbProject: text().default("minform").describe("Its project there."),
};

/** @internal The name of a run, and the logs of a phase that has no others. */
export const namedLog = (name: string) => ({
  name: text().default(name).describe("Name of the run."),
  log: section(sinkShape, "Logs besides metrics.jsonl."),
});
