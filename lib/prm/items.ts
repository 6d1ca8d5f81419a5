import { ArgumentError } from "../errors.ts";
import type { Tokenizer } from "../model/types.ts";
import { describe, typeName } from "../validate.ts";
import { mapSteps, type StepSpan, splitSteps } from "./steps.ts";

/** One message of a conversation. */
export interface Message {
  /** `"system"`, `"user"` or `"assistant"`. */
  readonly role: string;
  /** Its text; special-token text in it stays text. */
  readonly content: string;
}

/** A question and its steps. */
export interface StepsItem {
  /** The question. */
  readonly question: string;
  /** Its steps, at least one, none blank. */
  readonly steps: readonly string[];
  /** Reference answer, for families that are shown one. */
  readonly reference?: string;
}

/** A question and a whole response, to be split into steps. */
export interface ResponseItem {
  /** The question. */
  readonly question: string;
  /** The response; the separator splits it. */
  readonly response: string;
  /** Reference answer, for families that are shown one. */
  readonly reference?: string;
}

/** The policy's own ids, without padding. */
export interface TokensItem {
  /** Ids of the prompt. */
  readonly promptIds: ArrayLike<number>;
  /** Ids of the response. */
  readonly responseIds: ArrayLike<number>;
  /** The question as text, for families that are not fed with the policy's ids. */
  readonly question?: string;
  /** Reference answer, for families that are shown one. */
  readonly reference?: string;
}

/** A whole conversation in which each assistant turn is read (DreamPRM's card, RLHFlow). */
export interface ConversationItem {
  /** The turns, in order. */
  readonly conversation: readonly Message[];
}

/** Ids of a rendered conversation, padded or not: the read is found from the assistant header. */
export interface InputIdsItem {
  /** The ids. */
  readonly inputIds: ArrayLike<number>;
}

/** What can be scored. */
export type PrmItem = StepsItem | ResponseItem | TokensItem | ConversationItem | InputIdsItem;

/** @internal A question and steps, with their place in the response where there is one. */
export interface Solution {
  readonly question: string;
  readonly steps: readonly string[];
  readonly reference: string | undefined;
  readonly spans: readonly StepSpan[] | undefined;
}

/** @internal Ids as plain numbers, checked. */
export function checkIds(value: unknown, name: string): number[] {
  if (
    value === null ||
    typeof value !== "object" ||
    typeof (value as { length?: unknown }).length !== "number"
  ) {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `${name}: expected token ids, got ${typeName(value)}`);
  }
  const ids = Array.from(value as ArrayLike<number>);
  const wrong = ids.findIndex((id) => !Number.isSafeInteger(id) || id < 0 || id > 0x7fffffff);
  if (wrong >= 0) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `${name}[${wrong}]: expected a token id (integer >= 0), got ${describe(ids[wrong])}`,
    );
  }
  if (ids.length === 0) throw new ArgumentError("ERR_SHAPE", `${name}: expected at least one id, got none`);
  return ids;
}

/** @internal Text, checked. */
export function checkText(value: unknown, name: string): string {
  if (typeof value !== "string")
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `${name}: expected text, got ${describe(value)}`);
  return value;
}

/** @internal A conversation, checked: at least one message, each with role and content. */
export function checkConversation(value: unknown): readonly Message[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `conversation: expected messages, got ${describe(value)}`);
  }
  for (const [i, message] of value.entries()) {
    if (message === null || typeof message !== "object")
      throw new ArgumentError(
        "ERR_ARGUMENT_TYPE",
        `conversation[${i}]: expected a message, got ${describe(message)}`,
      );
    checkText(message.role, `conversation[${i}].role`);
    checkText(message.content, `conversation[${i}].content`);
  }
  return value as Message[];
}

/** @internal The steps of an item, whatever form it came in. */
export function toSolution(
  item: StepsItem | ResponseItem | TokensItem,
  split: string,
  policyTokenizer: Tokenizer,
): Solution {
  if ("responseIds" in item) {
    if (item.question === undefined) {
      throw new ArgumentError(
        "ERR_ARGUMENT_TYPE",
        "question: this convention is fed with text, so an item of token ids needs its question as text",
      );
    }
    const { text, steps } = mapSteps(checkIds(item.responseIds, "responseIds"), policyTokenizer, {
      separator: split,
    });
    return finish(
      item.question,
      steps.map(({ start, end }) => text.slice(start, end)),
      item.reference,
      steps,
    );
  }
  if ("steps" in item && item.steps !== undefined) {
    if (!Array.isArray(item.steps))
      throw new ArgumentError("ERR_ARGUMENT_TYPE", `steps: expected texts, got ${describe(item.steps)}`);
    return finish(item.question, item.steps, item.reference, undefined);
  }
  const response = checkText((item as ResponseItem).response, "response");
  const spans = splitSteps(response, split);
  return finish(
    item.question,
    spans.map(({ start, end }) => response.slice(start, end)),
    item.reference,
    spans,
  );
}

function finish(
  question: unknown,
  steps: readonly string[],
  reference: string | undefined,
  spans: readonly StepSpan[] | undefined,
): Solution {
  checkText(question, "question");
  if (reference !== undefined) checkText(reference, "reference");
  if (steps.length === 0) throw new ArgumentError("ERR_SHAPE", "steps: expected at least one step, got none");
  steps.forEach((step, k) => {
    if (checkText(step, `steps[${k}]`).trim() === "")
      throw new ArgumentError("ERR_ARGUMENT_VALUE", `steps[${k}]: expected a step, got blank text`);
  });
  return { question: question as string, steps, reference, spans };
}
