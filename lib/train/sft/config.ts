import * as z from "zod";
import { count, keep, microBatchTokens, text, whole } from "../config/fields.ts";
import { namedLog } from "../config/log.ts";
import { training } from "../config/training.ts";
import { adamShape } from "../run/adam.ts";

/** @internal Config of supervised fine-tuning. */
export const sftSchema = z.strictObject({
  ...namedLog("sft"),
  model: text().describe(
    "Checkpoint folder to start from; `arithmetic`: a fresh model of the embedded task.",
  ),
  data: text().describe(
    "Rows `{ prompt, completion }` or `{ messages }`: JSON Lines, JSON or parquet; `arithmetic`: the embedded task's mixture.",
  ),
  heldOut: text()
    .optional()
    .describe("Rows of the same kind for `eval/loss`. Default: none; `arithmetic` has its own."),
  rows: count().default(12_000).describe("Rows that are made of `arithmetic`; read from files are all."),
  seed: whole().default(1).describe("Seed of fresh weights, order and made rows."),
  epochs: count().default(3).describe("Passes over the rows."),
  steps: count().optional().describe("Optimiser steps, in place of epochs."),
  batch: count().default(32).describe("Rows per optimiser step."),
  ...adamShape(1e-5),
  training: training().describe("What trains: `all`, or `{ lora: { rank: 8 } }`."),
  keep: keep(),
  microBatchTokens: microBatchTokens(),
  evaluateEvery: whole().default(0).describe("Steps between evaluations; 0 for the last alone."),
  checkpointEvery: whole().default(200).describe("Steps between checkpoints; 0 for the last alone."),
});

/** A config of {@link trainSft}: what has a default may be left out. */
export type SftConfig = { [Key in keyof z.input<typeof sftSchema>]: z.input<typeof sftSchema>[Key] };

/** @internal With every default filled in. */
export type ResolvedSftConfig = z.output<typeof sftSchema>;
