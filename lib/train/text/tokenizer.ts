import { join } from "node:path";
import { ArgumentError } from "../../errors.ts";
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
    encode: (text) => known(tokenizer.encode(text), text),
    decode: (ids) => tokenizer.decode(Array.from(ids).filter((id) => !silent.has(id))),
    ...(tokenizer.hasChatTemplate
      ? { encodeChat: (messages) => tokenizer.encodeChat(messages, { addGenerationPrompt: true }) }
      : {}),
    ...(eosId === undefined ? {} : { eosId }),
    ...(startsPrompts ? { bosId } : {}),
    ...(padId === undefined ? {} : { padId }),
  };
}

// A vocabulary of words without an unknown one leaves a hole where it has no word.
function known(ids: readonly (number | undefined)[], text: string): number[] {
  if (!ids.includes(undefined)) return ids as number[];
  const shown = JSON.stringify(text.slice(0, 40));
  throw new ArgumentError("ERR_ARGUMENT_VALUE", `text: the tokenizer has no token for a part of ${shown}`);
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
