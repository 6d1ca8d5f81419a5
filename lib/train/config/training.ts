import * as z from "zod";
import type { Training } from "../engine/model.ts";
import { LORA_TARGETS } from "../engine/lora.ts";
import { definite } from "./definite.ts";
import { choice, count } from "./fields.ts";

/** @internal What of a model trains. */
export const training = () =>
  z
    .union([
      z.literal("all"),
      z.strictObject({
        lora: z
          .strictObject({
            rank: count().describe("Rank of the change."),
            alpha: z
              .number()
              .optional()
              .describe("Scale before the division by the rank. Default: twice the rank."),
            targets: z
              .array(choice(LORA_TARGETS))
              .optional()
              .describe("Projections that are adapted. Default: all seven."),
          })
          .describe("Low-rank adapters in place of all weights, merged into them at the end."),
      }),
    ])
    .default("all");

/** @internal The same for the engine. */
export function trainingOf(config: z.output<ReturnType<typeof training>>, seed: number): Training {
  return config === "all" ? "all" : { lora: { seed, ...definite(config.lora) } };
}
