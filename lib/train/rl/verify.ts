import { createHash } from "node:crypto";
import { createReward, type RewardFunction as AnswerReward } from "../../verify/index.ts";
import type { TrainConfig } from "../config/schema.ts";
import type { PromptRow } from "../data/prompts.ts";

/** @internal The verifiable reward in {0, 1}; what it counts as is decided where it is added. */
export function answerReward({ verifier }: TrainConfig["reward"]): AnswerReward {
  return createReward({ grader: verifier });
}

/**
 * @internal Whether the answer of a prompt is used: a hash of its text below the share. Which prompts are verifiable
 * depends neither on the order nor on what else is in the set.
 */
export function isVerifiable({ text, answer }: PromptRow, share: number): boolean {
  if (answer === null) return false;
  return (
    share === 1 ||
    createHash("sha256").update(`verifiable\n${text}`).digest().readUInt32BE() / 2 ** 32 < share
  );
}
