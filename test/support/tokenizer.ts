// A thin tokenizer over a checkpoint folder: what the tests of lib/prm need, and no more.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Template } from "@huggingface/jinja";
import { Tokenizer as Fast } from "@huggingface/tokenizers";
import type { Tokenizer } from "../../lib/model/types.ts";

type Messages = readonly { role: string; content: string }[];
const cache = new Map<string, Tokenizer>();

export function thinTokenizer(folder: string, chatTemplate?: string): Tokenizer {
  const key = `${folder}|${chatTemplate ?? ""}`;
  let found = cache.get(key);
  if (found === undefined) {
    found = build(folder, chatTemplate);
    cache.set(key, found);
  }
  return found;
}

function build(folder: string, chatTemplate?: string): Tokenizer {
  const json = JSON.parse(readFileSync(join(folder, "tokenizer.json"), "utf8"));
  const config = JSON.parse(readFileSync(join(folder, "tokenizer_config.json"), "utf8"));
  const bare = new Fast({ ...json, added_tokens: [] }, { ...config, added_tokens_decoder: {} });
  const added: { id: number; content: string }[] = json.added_tokens;
  const byText = new Map(added.map(({ id, content }) => [content, id]));
  const byLength = [...byText.keys()].sort((a, b) => b.length - a.length);
  const source: string | undefined = chatTemplate ?? config.chat_template;
  const template = source === undefined ? undefined : new Template(source);
  const idOf = (token: string) => byText.get(token) ?? bare.token_to_id(token);
  const byId = new Map(added.map(({ id, content }) => [id, content]));
  // Added tokens as they are written, what stands between them through the decoder.
  const decode = (ids: readonly number[]): string => {
    let out = "";
    let run: number[] = [];
    const flush = () => {
      if (run.length > 0)
        out += bare.decode(run, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
      run = [];
    };
    for (const id of ids) {
      const content = byId.get(id);
      if (content === undefined) run.push(id);
      else {
        flush();
        out += content;
      }
    }
    flush();
    return out;
  };

  // [text runs and ids] of a literal part of a template
  const parse = (text: string): (string | number)[] => {
    const out: (string | number)[] = [];
    let run = "";
    for (let i = 0; i < text.length; ) {
      const token = byLength.find((t) => text.startsWith(t, i));
      if (token === undefined) run += text[i++];
      else {
        if (run !== "") out.push(run);
        run = "";
        out.push(byText.get(token)!);
        i += token.length;
      }
    }
    if (run !== "") out.push(run);
    return out;
  };
  const plain = (text: string): number[] =>
    text === "" ? [] : bare.encode(text, { add_special_tokens: false }).ids;
  const runs = (parts: (string | number)[]): number[] => {
    const out: number[] = [];
    let run = "";
    for (const part of parts) {
      if (typeof part === "string") run += part;
      else {
        out.push(...plain(run), part);
        run = "";
      }
    }
    return out.concat(plain(run));
  };
  const specials = {
    bos_token: config.bos_token?.content ?? config.bos_token ?? "",
    eos_token: config.eos_token?.content ?? config.eos_token ?? "",
  };
  const render = (messages: Messages, addGenerationPrompt = false): string => {
    if (template === undefined) throw new Error("no chat template");
    return template.render({
      messages: messages as never,
      add_generation_prompt: addGenerationPrompt,
      ...specials,
    });
  };
  const bosId = specials.bos_token === "" ? undefined : idOf(specials.bos_token);
  const eosId = specials.eos_token === "" ? undefined : idOf(specials.eos_token);
  return {
    encode(text, { special = "text", addBos = false } = {}) {
      const body = special === "text" ? plain(text) : runs(parse(text));
      return addBos && bosId !== undefined ? [bosId, ...body] : body;
    },
    decode,
    idOf,
    tokenText: (id) => decode([id]),
    ...(bosId === undefined ? {} : { bosId }),
    ...(eosId === undefined ? {} : { eosId }),
    hasChatTemplate: template !== undefined,
    applyChatTemplate: (messages, options) => render(messages, options?.addGenerationPrompt),
    encodeChat(messages, options) {
      const held = messages.map(({ role }, i) => ({ role, content: `\uE000${i}\uE001` }));
      const parts = render(held, options?.addGenerationPrompt).split(/\uE000(\d+)\uE001/);
      return runs(
        parts.flatMap((part, i) => (i % 2 === 0 ? parse(part) : [messages[Number(part)]!.content])),
      );
    },
  };
}
