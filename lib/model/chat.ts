import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Template } from "@huggingface/jinja";
import { InputError } from "../errors.ts";
import { readJson } from "./checkpoint.ts";
import { exists } from "../hub/cache.ts";

/** One turn of a conversation. */
export interface ChatMessage {
  /** `system`, `user`, `assistant`, or another name that the template knows. */
  role: string;
  /** Text of the turn. */
  content: string;
}

interface RenderOptions {
  addGenerationPrompt?: boolean;
}

// Variables of tokenizer_config.json that templates refer to.
const TOKENS = ["bos_token", "eos_token", "unk_token", "pad_token"];

/** @internal The chat template of a checkpoint. */
export class ChatTemplate {
  private constructor(
    private readonly template: Template,
    private readonly variables: Record<string, string>,
  ) {}

  /** From chat_template.jinja, chat_template.json or tokenizer_config.json; `undefined` when there is none. */
  static async load(path: string, config: Record<string, unknown>): Promise<ChatTemplate | undefined> {
    const source = await findSource(path, config);
    if (source === undefined) return undefined;
    const names = TOKENS.map((name) => [name, tokenName(config[name])] as const);
    const variables = Object.fromEntries(
      names.filter((pair): pair is [string, string] => pair[1] !== undefined),
    );
    try {
      return new ChatTemplate(new Template(source), variables);
    } catch (cause) {
      throw new InputError(
        "ERR_INPUT",
        `${path}: the chat template cannot be parsed: ${(cause as Error).message}`,
        {
          cause,
        },
      );
    }
  }

  /** The text of a conversation, contents as they are. */
  render(messages: readonly ChatMessage[], options: RenderOptions): string {
    try {
      return this.template.render({
        ...this.variables,
        messages: messages.map((message) => ({ ...message })),
        add_generation_prompt: options.addGenerationPrompt ?? false,
      });
    } catch (cause) {
      throw new InputError(
        "ERR_INPUT",
        `the chat template rejects the conversation: ${(cause as Error).message}`,
        {
          cause,
        },
      );
    }
  }

  /**
   * Renders with stand-ins for the contents that `guard` picks; `restore` puts the contents back. White space at the
   * ends of a content stays in place, since templates trim it.
   */
  renderGuarded(
    messages: readonly ChatMessage[],
    options: RenderOptions,
    guard: (content: string) => boolean,
  ): { text: string; restore: (text: string) => string } {
    const all = messages.map(({ content }) => content).join("");
    let mark = "\uE000";
    while (all.includes(mark)) mark += "\uE000";
    const cores: string[] = [];
    const guarded = messages.map((message) => {
      if (!guard(message.content)) return message;
      const core = message.content.trim();
      cores.push(core);
      const at = message.content.indexOf(core);
      const standIn = `${mark}\uE001${cores.length - 1}\uE002`;
      return {
        ...message,
        content: message.content.slice(0, at) + standIn + message.content.slice(at + core.length),
      };
    });
    const pattern = new RegExp(`${mark}\uE001(\\d+)\uE002`, "g");
    return {
      text: this.render(guarded, options),
      restore: (text) => text.replace(pattern, (_, index) => cores[Number(index)]!),
    };
  }
}

/** @internal A token in tokenizer_config.json: its text, or an object with it. */
export function tokenName(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const content = (value as { content?: unknown } | null | undefined)?.content;
  return typeof content === "string" ? content : undefined;
}

async function findSource(path: string, config: Record<string, unknown>): Promise<string | undefined> {
  const jinja = join(path, "chat_template.jinja");
  if (await exists(jinja)) return readFile(jinja, "utf8");
  const json = join(path, "chat_template.json");
  const holder = (await exists(json)) ? ((await readJson(json)) as Record<string, unknown>) : config;
  const found = holder.chat_template;
  if (typeof found === "string") return found;
  // Several named templates: the one for plain conversations.
  if (Array.isArray(found)) {
    const named = found.find((entry) => entry?.name === "default")?.template;
    if (typeof named === "string") return named;
  }
  return undefined;
}
