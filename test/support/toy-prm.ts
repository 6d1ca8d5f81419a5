// A PRM of toy parts: the tokenizer of a few words and the model that is nothing but causality.
import { fakeRunner } from "./runner.ts";
import { toyTokenizer } from "./toy-tokenizer.ts";

const softmax = {
  read: "at",
  score: { transform: "softmax", good: 1 },
  range: "probability",
  aggregate: "min",
  threshold: 0.5,
} as const;

/** Qwen2.5-Math-PRM's form: a chat whose answer has a marker after each step. */
export const chatLike = {
  name: "chat-like",
  head: "mlp",
  input: { form: "chat", separator: { token: "<extra_0>" } },
  ...softmax,
} as const;

/** PURE's form: the question and the steps as plain text, read at the line ends. */
export const plainLike = {
  name: "plain-like",
  head: "token-classification",
  input: { form: "plain", prompt: "{question}", tokenise: "parts", separator: { text: "\n" } },
  ...softmax,
} as const;

/** What a PRM is made of, but for what a test has of its own. */
export function toyParts<const Own extends object>(own: Own) {
  return { model: "toy", convention: chatLike, tokenizer: toyTokenizer(), runner: fakeRunner(), ...own };
}
