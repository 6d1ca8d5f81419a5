import * as z from "zod";
import { control } from "../../prm/convention.ts";
import { count, keep, microBatchTokens, section, text, whole } from "../config/fields.ts";
import { namedLog } from "../config/log.ts";
import { training } from "../config/training.ts";
import { adamShape } from "../run/adam.ts";

const stage = (epochs: number, learningRate: number, about: string) =>
  section(
    {
      epochs: whole().default(epochs).describe("Passes over the rows; 0 leaves the stage out."),
      batch: count().default(64).describe("Solutions per optimiser step."),
      ...adamShape(learningRate),
    },
    about,
  );

/** @internal Config of PRM training. */
export const prmSchema = z.strictObject({
  ...namedLog("prm"),
  model: text().describe("Checkpoint folder whose backbone the PRM starts from."),
  data: text().describe(
    "Labelled solutions: TRL's stepwise rows, PRM800K as published, or ProcessBench-like; JSON Lines, JSON or parquet. " +
      "`arithmetic`: solutions of the embedded task that `model` writes, labelled by rule.",
  ),
  heldOut: text()
    .optional()
    .describe("Labelled solutions to measure on. Default: none; `arithmetic` has its own."),
  samples: count().default(10_000).describe("`arithmetic`: solutions to train on, one per problem."),
  heldOutSamples: count().default(1000).describe("`arithmetic`: solutions to measure on."),
  seed: whole().default(1).describe("Seed of the head, the order and the made solutions."),
  separator: control
    .min(1)
    .default("\n")
    .describe("Text of the one token that closes each step and bears its label."),
  headWidth: count()
    .optional()
    .describe("Two layers of this width in the head, with a ReLU. Default: one layer."),
  head: stage(3, 1e-4, "Stage 1: the head alone."),
  all: stage(1, 1e-6, "Stage 2: all weights, or as `training` says."),
  training: training().describe(
    "What trains in stage 2, beside the head: `all`, or `{ lora: { rank: 8 } }`.",
  ),
  keep: keep(),
  microBatchTokens: microBatchTokens(),
  checkpointEvery: whole()
    .default(200)
    .describe("Steps between checkpoints; 0 for the end of a stage alone."),
});

/** A config of {@link trainPrm}: what has a default may be left out. */
export type PrmConfig = { [Key in keyof z.input<typeof prmSchema>]: z.input<typeof prmSchema>[Key] };

/** @internal With every default filled in. */
export type ResolvedPrmConfig = z.output<typeof prmSchema>;
