import * as z from "zod";
import { GUARD_ACTIONS } from "../guard/rules.ts";
import { BLAME } from "../online/relabel.ts";
import { choice, count, positive, section, share, whole } from "./fields.ts";

/** @internal Which prompts come when. */
export const curriculumSection = section(
  {
    order: choice(["epochs", "pass-rate"])
      .default("epochs")
      .describe("Every prompt once in an epoch, or drawn by its measured pass rate."),
    levels: z
      .strictObject({
        start: count().optional().describe("Levels open at the start. Default 1."),
        threshold: share()
          .optional()
          .describe("Pass rate of the hardest open level that opens the next. Default 0.7."),
        minimum: count().optional().describe("Responses to it that must have been seen. Default 64."),
        memory: positive().optional().describe("Responses over which its running rate forgets. Default 128."),
      })
      .optional()
      .describe("`epochs`: easy prompts first, by the level in the data. Default: all from the start."),
    restSolved: whole().default(0).describe("`epochs`: steps that a prompt rests after a group all right."),
    restFailed: whole().default(0).describe("`epochs`: steps that a prompt rests after a group all wrong."),
    target: share().default(0.5).describe("`pass-rate`: pass rate of the prompts that are drawn most."),
    width: positive().default(0.25).describe("`pass-rate`: width of the preference."),
    floor: share().default(0.05).describe("`pass-rate`: weight of the prompts furthest from the target."),
    dropUniform: z
      .boolean()
      .default(false)
      .describe("Do not train on groups whose verifiable rewards are all equal (all right, all wrong)."),
  },
  "Curriculum.",
);

/** @internal Detection of reward hacking. */
export const guardSection = section(
  {
    enabled: z.boolean().default(false).describe("Watch the metrics of every step."),
    action: choice(GUARD_ACTIONS)
      .default("alarm")
      .describe(
        "What the default rules do: an alarm on stderr and in the metrics; end the run with the last checkpoint's " +
          "weights; end it with the present ones.",
      ),
    rules: z
      .array(z.looseObject({ kind: z.string(), metric: z.string() }))
      .optional()
      .describe("Rules of one's own in place of the default ones; see the guide on reward hacking."),
  },
  "Detection of reward hacking.",
);

/** @internal Refreshing the PRM during the run. */
export const onlineSection = section(
  {
    enabled: z
      .boolean()
      .default(false)
      .describe("The PRM goes on learning from rollouts that are labelled by their answers."),
    every: count().default(5).describe("Steps between refreshes."),
    batch: count().default(32).describe("Solutions per optimiser step, half right and half wrong."),
    steps: count().default(4).describe("Optimiser steps of a refresh at most."),
    learningRate: positive().default(1e-3).describe("Learning rate; for large models of the order of 1e-6."),
    maxNorm: positive().default(1).describe("Largest global gradient norm."),
    blame: choice(BLAME)
      .default("weakest")
      .describe("Which step of a wrong solution is taken for wrong: the one of lowest reward, or the last."),
  },
  "Online PRM.",
);

/** @internal verl's digit task. */
export const digitsSection = section(
  {
    grow: z
      .strictObject({
        start: count().describe("Longest response at the start, in tokens."),
        by: count().optional().describe("Tokens by which it grows. Default: start."),
        share: share()
          .optional()
          .describe("Share of responses at the limit above which it grows. Default 0.3."),
        memory: share().optional().describe("Weight of the newest step in that share. Default 0.2."),
      })
      .optional()
      .describe("A curriculum by length. Default: none."),
    equalCharacters: z
      .boolean()
      .default(false)
      .describe("In training every right character counts 1, however long the answer."),
    endAtMismatch: z.boolean().default(true).describe("Responses end at the first wrong character."),
  },
  "The digit task, with `reward.function: digits`.",
);
