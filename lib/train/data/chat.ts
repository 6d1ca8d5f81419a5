import { InputError } from "../../errors.ts";
import { type ChatTurn, promptIds, type TextCodec } from "../text/codec.ts";
import { textOf } from "./lines.ts";
import { fillTemplate } from "./template.ts";

/**
 * @internal A prompt as text and as ids: of a text, in its place in `template` where there is one, or of a list of chat
 * turns through the chat template.
 */
export function readPrompt(
  value: unknown,
  codec: TextCodec,
  keys: readonly string[],
  template = "{prompt}",
): { text: string; ids: Int32Array } {
  if (!Array.isArray(value)) {
    const text = textOf(value, keys);
    return { text, ids: promptIds(codec, fillTemplate(template, text)) };
  }
  const turns = value.map(readTurn);
  if (codec.encodeChat === undefined)
    throw new InputError("ERR_INPUT", "the prompt is a chat, and the tokenizer has no chat template");
  const asked = turns.filter(({ role }) => role === "user").at(-1) ?? turns.at(-1);
  return { text: asked?.content ?? "", ids: Int32Array.from(codec.encodeChat(turns)) };
}

const ROLES = ["system", "user", "assistant", "tool"];

/** @internal Turns that are trained on: a role that no template knows, or nothing said, would be learned as it is. */
export function checkTurns(turns: readonly unknown[], key: string): ChatTurn[] {
  return turns.map((turn, i) => {
    const { role, content } = readTurn(turn);
    if (!ROLES.includes(role)) {
      throw new InputError(
        "ERR_INPUT",
        `${key}[${i}].role: expected system, user, assistant or tool, got ${JSON.stringify(role)}`,
      );
    }
    if (content.trim() === "")
      throw new InputError("ERR_INPUT", `${key}[${i}].content: expected text, got none`);
    return { role, content };
  });
}

function readTurn(turn: unknown): ChatTurn {
  const { role, content } = (turn ?? {}) as Partial<ChatTurn>;
  if (typeof role === "string" && typeof content === "string") return { role, content };
  throw new InputError("ERR_INPUT", "expected chat turns { role, content }, both text");
}
