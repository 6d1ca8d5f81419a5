import * as z from "zod";
import { count, positive, section, share } from "./fields.ts";

/** @internal Which prompts come when. */
export const curriculumSection = section(
  {
    order: z
      .enum(["epochs", "pass-rate"])
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
    restSolved: z
      .int()
      .min(0)
      .default(0)
      .describe("`epochs`: steps that a prompt rests after a group all right."),
    restFailed: z
      .int()
      .min(0)
      .default(0)
      .describe("`epochs`: steps that a prompt rests after a group all wrong."),
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
    action: z
      .enum(["alarm", "rollback", "stop"])
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
