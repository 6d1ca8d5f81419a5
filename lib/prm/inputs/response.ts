import { PrmError } from "../../errors.ts";
import { type BoundConvention, openingMessages, startsWith } from "../bind.ts";
import type { Convention } from "../convention.ts";
import type { Solution } from "../items.ts";
import { tokenOffsets } from "../steps.ts";
import type { BuiltInput } from "./input.ts";
import { fill, fillStep } from "./template.ts";

type Response = Extract<Convention["input"], { form: "response" }>;

/**
 * @internal The response as the assistant's turn, every token of it a target: the log-probability of token t is read
 * at t - 1. Prompt and template tokens contribute nothing. A step owns the tokens up to the one that ends its
 * separator; the last step ends with the response.
 */
export function buildResponse(bound: BoundConvention, input: Response, solution: Solution): BuiltInput {
  const { tokenizer, chat, convention } = bound;
  const opening = openingMessages(input.system, fill(input.user, { question: solution.question }));
  const steps = solution.steps.map((step, k) => fillStep(input.step, step, k));
  const content = steps.join(input.join);
  const open = tokenizer.encodeChat(opening, { addGenerationPrompt: true });
  const closed = tokenizer.encodeChat([...opening, { role: "assistant", content }]);
  const first = open.length + chat!.lead.length;
  const last = closed.length - chat!.tail.length;
  const words = closed.slice(first, last);
  const { text, starts } = tokenOffsets(words, tokenizer);
  if (!startsWith(closed, open) || text.trim() !== content.trim()) {
    throw new PrmError(
      "ERR_STEP_READS",
      `convention ${convention.name}: expected the chat template to keep the response as it is, it changed it`,
    );
  }
  const shift = content.length - content.trimStart().length - (text.length - text.trimStart().length);
  const readsPerStep: number[] = [];
  let end = 0;
  let used = 0;
  steps.forEach((step, k) => {
    end += step.length + (k + 1 < steps.length ? input.join.length : 0);
    let count = 0;
    const stop = k + 1 === steps.length ? Infinity : end - shift;
    while (used + count < words.length && starts[used + count]! < stop) count++;
    if (count === 0)
      throw new PrmError(
        "ERR_STEP_READS",
        `convention ${convention.name}: step ${k} has no token of its own`,
      );
    readsPerStep.push(count);
    used += count;
  });
  const positions = words.map((_, i) => first + i - 1);
  const lengths: number[] = [];
  for (const count of readsPerStep) lengths.push((lengths.at(-1) ?? first) + count);
  return {
    rows: [{ ids: closed, reads: positions, targets: words }],
    readsPerStep,
    lengths,
  };
}
