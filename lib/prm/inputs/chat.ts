import { PrmError } from "../../errors.ts";
import { type BoundConvention, openingMessages, startsWith } from "../bind.ts";
import type { Convention } from "../convention.ts";
import type { Message, Solution } from "../items.ts";
import { assertReads, type BuiltInput, causalRow } from "./input.ts";
import { fill } from "./template.ts";

type Input<F extends Convention["input"]["form"]> = Extract<Convention["input"], { form: F }>;

/** @internal One assistant turn that holds all steps, each closed by the separator token. */
export function buildChat(bound: BoundConvention, input: Input<"chat">, solution: Solution): BuiltInput {
  const { tokenizer, chat, separator } = bound;
  const opening = openingMessages(input.system, fill(input.user, { question: solution.question }));
  const [first, ...others] = solution.steps as [string, ...string[]];
  // The first step is tokenised behind the header, as it stands in the rendered text; the separators are special
  // tokens, which cut the text, so the other steps are tokenised alone.
  const closed = tokenizer.encodeChat([...opening, { role: "assistant", content: first }]);
  const { tail } = chat!;
  const end = closed.length - tail.length;
  if (!tail.every((id, i) => id === closed[end + i]))
    throw new PrmError(
      "ERR_STEP_READS",
      "the chat template does not close this conversation as it closed another",
    );
  const ids = closed.slice(0, end);
  const reads: number[] = [];
  const close = (): void => {
    ids.push(separator![0]!);
    reads.push(ids.length - 1);
  };
  close();
  for (const step of others) {
    for (const id of tokenizer.encode(step)) ids.push(id);
    close();
  }
  for (const id of tail) ids.push(id);
  return causalRow(ids, reads);
}

/** @internal Rows of a conversation: each step a user turn, answered by a reply that is read before it is said. */
export function buildTurns(bound: BoundConvention, input: Input<"turns">, solution: Solution): BuiltInput {
  const messages: Message[] = input.system === undefined ? [] : [{ role: "system", content: input.system }];
  solution.steps.forEach((step, k) => {
    const content = fill(k === 0 ? input.first : input.next, { question: solution.question, step });
    messages.push({ role: "user", content }, { role: "assistant", content: input.reply });
  });
  return buildConversation(bound, messages);
}

/** @internal A conversation as it is given: every assistant turn is read before its first word. */
export function buildConversation(bound: BoundConvention, messages: readonly Message[]): BuiltInput {
  const open = messages.at(-1)!.role !== "assistant";
  const replies = messages.filter(({ role }) => role === "assistant").length;
  const ids = bound.tokenizer.encodeChat(messages, { addGenerationPrompt: open });
  const reads = headerReads(bound, ids);
  const name = bound.convention.name;
  assertReads(name, reads.length, replies + (open ? 1 : 0), "assistant header");
  return causalRow(ids, reads);
}

// Last token before each assistant's words.
function headerReads(bound: BoundConvention, ids: readonly number[]): number[] {
  const { header, lead } = bound.chat!;
  const reads: number[] = [];
  for (let i = 0; i + header.length <= ids.length; i++) {
    if (!header.every((id, j) => ids[i + j] === id)) continue;
    const after = i + header.length;
    const skipped =
      lead.length > 0 && startsWith(ids.slice(after, after + lead.length), lead) ? lead.length : 0;
    reads.push(after + skipped - 1);
  }
  return reads;
}

/**
 * @internal Reads of a conversation that comes as ids: found from the assistant header, wherever the row ends and
 * however it is padded. Padding before the conversation is left out: the model would see it. A bare header behind a finished turn (a generation prompt too many) is not read.
 */
export function buildInputIds(bound: BoundConvention, padded: readonly number[]): BuiltInput {
  const { tokenizer, convention } = bound;
  const ids = padded.slice(leftPadding(padded, bound.chat!.first));
  const fail = (message: string): never => {
    throw new PrmError("ERR_STEP_READS", `convention ${convention.name}: ${message}`);
  };
  const found = headerReads(bound, ids);
  if (found.length === 0) {
    const header = bound.chat!.header.join(" ");
    return fail(
      `expected an assistant header (${header}) in the ids, found none: was the row cut at its end?`,
    );
  }
  const words = bound.labels!.map((id) => tokenizer.tokenText(id).trim());
  const reads = found.filter((read, k) => {
    const rest = ids.slice(read + 1);
    const next = rest.length === 0 ? "" : tokenizer.tokenText(rest[0]!).trim();
    const said = words.some((word) => next.startsWith(word));
    if (said) return true;
    // Nothing, or nothing but padding, behind the header: a generation prompt.
    if (rest.every((id) => id === rest[0])) return k === 0;
    return fail(
      `expected ${words.join(" or ")} behind the assistant header at position ${read}, found ${JSON.stringify(next)}: the model was not trained to be read there`,
    );
  });
  return causalRow(ids, reads);
}

// One token, repeated up to the first one of the conversation, which may itself serve as padding.
function leftPadding(ids: readonly number[], first: number): number {
  const end = ids.findIndex((id) => id !== ids[0]);
  if (ids[0] === first) return Math.max(0, end - 1);
  return ids[end] === first ? end : 0;
}
