import { join } from "node:path";
import { readJson } from "../../model/checkpoint.ts";
import { tokenName } from "../../model/chat.ts";
import { loadTokenizer } from "../../model/tokenizer.ts";
import type { TextCodec } from "./codec.ts";

/** @internal The codec of a tokenizer.json, whose tokenizer_config.json holds `config`. */
export async function tokenizerCodec(folder: string, config: Record<string, unknown>): Promise<TextCodec> {
  const tokenizer = await loadTokenizer({ path: folder });
  const padId = tokenizer.idOf(tokenName(config.pad_token) ?? "");
  const { bosId, eosId } = tokenizer;
  const silent = new Set([bosId, eosId, padId]);
  const startsPrompts = bosId !== undefined && (await addsBos(folder, config));
  return {
    encode: (text) => tokenizer.encode(text),
    decode: (ids) => tokenizer.decode(Array.from(ids).filter((id) => !silent.has(id))),
    ...(tokenizer.hasChatTemplate
      ? { encodeChat: (messages) => tokenizer.encodeChat(messages, { addGenerationPrompt: true }) }
      : {}),
    ...(eosId === undefined ? {} : { eosId }),
    ...(startsPrompts ? { bosId } : {}),
    ...(padId === undefined ? {} : { padId }),
  };
}

interface Step {
  readonly type?: string;
  readonly single?: readonly unknown[];
  readonly processors?: readonly Step[];
}

// Newer tokenizers leave it to the template that runs after the tokens are found.
async function addsBos(folder: string, config: Record<string, unknown>): Promise<boolean> {
  if (typeof config.add_bos_token === "boolean") return config.add_bos_token;
  const json = (await readJson(join(folder, "tokenizer.json"))) as { post_processor?: Step | null };
  const last = json.post_processor;
  const steps = last?.type === "Sequence" ? (last.processors ?? []) : last ? [last] : [];
  return steps.some(({ type, single }) => {
    const first = single?.[0];
    return (
      type === "TemplateProcessing" && typeof first === "object" && first !== null && "SpecialToken" in first
    );
  });
}
