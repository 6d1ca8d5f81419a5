import * as z from "zod";
import { choice, count, keep, section, share, text, whole } from "./fields.ts";
import { isTemplate, templateFault } from "../data/template.ts";
import { training } from "./training.ts";

/** @internal The policy to start from. */
export const modelSection = z
  .strictObject({
    path: text().describe(
      "Checkpoint folder of the policy to start from: config.json, safetensors, tokenizer.",
    ),
    training: training().describe("What trains: `all`, or `{ lora: { rank: 8 } }`."),
    keep: keep(),
  })
  .describe("The policy.");

/** @internal Prompts. */
export const dataSection = z
  .strictObject({
    train: text().describe(
      "Prompts with their answers: JSON Lines, JSON, parquet, or `arithmetic:train` of the embedded task.",
    ),
    eval: text()
      .optional()
      .describe(
        "Held-out prompts, `arithmetic:held-out` of the embedded task. Default: none, no evaluation.",
      ),
    promptKey: text()
      .optional()
      .describe("Key of the prompt, a text or chat turns. Default: `prompt`, `problem` or `question`."),
    template: text()
      .refine(isTemplate, { error: ({ input }) => templateFault(input) })
      .optional()
      .describe(
        "Text around every prompt that is a text, `{prompt}` in it once; chat turns have the chat template. Default: nothing.",
      ),
    answerKey: text()
      .optional()
      .describe(
        "Key of the right answer; a row without one is not verifiable. Default: `answer`, `final_answer`, `gt` or " +
          "`reward_model.ground_truth`.",
      ),
    idKey: text().optional().describe("Key of the id. Default: `id` or `unique_id`; else rows are numbered."),
    levelKey: text().default("level").describe("Key of the level of difficulty, for curricula."),
    limit: count()
      .optional()
      .describe("So many training prompts. Default: all of a file, 2048 of the embedded task."),
    maxPromptTokens: count()
      .default(1024)
      .describe(
        "Training prompts longer than this are left out, and counted on stderr; so are prompts, of the evaluation too, to " +
          "which the model's context does not leave room for rollout.maxTokens.",
      ),
    shuffle: z
      .boolean()
      .default(true)
      .describe("Another order in every epoch, given by the seed; else as in the file."),
    verifiableShare: share()
      .default(1)
      .describe("Share of the training prompts whose answer is used, chosen by a hash of the prompt."),
  })
  .describe("Training and evaluation prompts.");

/** @internal Sampling. */
export const rolloutSection = section(
  {
    prompts: count().default(64).describe("Prompts per step."),
    n: count().default(8).describe("Responses per prompt: the group that is compared."),
    maxTokens: count().default(1024).describe("Longest response, in tokens."),
    temperature: z
      .number()
      .min(1e-6)
      .default(1)
      .describe("Sampling temperature; log-probs are taken at it too."),
    topK: whole().default(0).describe("Draw among so many likeliest tokens; 0 for all."),
    topP: z
      .number()
      .gt(0)
      .max(1)
      .default(1)
      .describe("Draw among the likeliest tokens of this joint probability."),
    minP: share()
      .default(0)
      .describe("Draw among tokens with this share of the likeliest one's probability."),
    stop: z.array(text()).default([]).describe("Texts that end a response; the text is part of it."),
    stopIds: z
      .array(whole())
      .optional()
      .describe("Token ids that end a response. Default: the tokenizer's end-of-sequence id."),
    batch: count().default(256).describe("Responses written at a time; bounds the memory of the cache."),
    truncated: choice(["keep", "mask", "fail"])
      .default("keep")
      .describe(
        "Responses that reach maxTokens: `keep` treats them as any other; `mask` neither trains on them nor compares " +
          "others with them; `fail` gives them a verifiable reward of 0 whatever they say.",
      ),
  },
  "How responses are drawn.",
);
