import * as z from "zod";
import { actorSection, algorithmSection, correctionSection, criticSection, klSection } from "./algorithm.ts";
import { curriculumSection, digitsSection, guardSection, onlineSection } from "./curriculum.ts";
import { dataSection, modelSection, rolloutSection } from "./data.ts";
import { count, section, text, whole } from "./fields.ts";
import { sinkShape } from "./log.ts";
import { rewardSection } from "./reward.ts";

/** @internal Evaluation on held-out prompts. */
export const evalSection = section(
  {
    every: whole().default(10).describe("Steps between evaluations; 0 for none but the last."),
    prompts: count().default(200).describe("Held-out prompts, the first of the file."),
    samples: count().default(1).describe("Sampled responses per prompt, beside a greedy one."),
    before: z.boolean().default(true).describe("Evaluate before the first step as well."),
  },
  "Evaluation.",
);

/** @internal Checkpoints. */
export const checkpointSection = section(
  {
    every: whole().default(20).describe("Steps between checkpoints; 0 for the last alone."),
    keep: count().default(2).describe("Newest checkpoints that are kept."),
  },
  "Checkpoints.",
);

/** @internal What is written down. */
export const logSection = section(
  {
    rolloutGroups: whole().default(2).describe("Groups per step in rollouts.jsonl."),
    ...sinkShape,
  },
  "Logs.",
);

/** @internal The whole of a training config. */
export const trainSchema = z.strictObject({
  name: text().default("run").describe("Name of the run."),
  seed: whole().default(1).describe("Seed of everything that is drawn."),
  steps: count().default(100).describe("Training steps: rollouts, rewards, advantages, update."),
  model: modelSection,
  data: dataSection,
  rollout: rolloutSection,
  reward: rewardSection,
  algorithm: algorithmSection,
  kl: klSection,
  actor: actorSection,
  critic: criticSection,
  correction: correctionSection,
  curriculum: curriculumSection,
  guard: guardSection,
  online: onlineSection,
  digits: digitsSection,
  eval: evalSection,
  checkpoint: checkpointSection,
  log: logSection,
});

/** A training config as it is written: what has a default may be left out. */
export type TrainConfigInput = {
  [Key in keyof z.input<typeof trainSchema>]: z.input<typeof trainSchema>[Key];
};

/** A training config with every default filled in: from {@link parseTrainConfig}. */
export type TrainConfig = { [Key in keyof z.output<typeof trainSchema>]: z.output<typeof trainSchema>[Key] };
