import { join } from "node:path";
import { Tokenizer as Engine } from "@huggingface/tokenizers";
import { InputError } from "../errors.ts";
import { type ChatMessage, ChatTemplate, tokenName } from "./chat.ts";
import { readJson } from "./checkpoint.ts";
import { exists } from "../hub/cache.ts";
import type { Tokenizer } from "./types.ts";

interface AddedToken {
  id: number;
  content: string;
  special: boolean;
}

interface TokenizerFile {
  added_tokens?: AddedToken[];
  model?: { vocab?: Record<string, number> };
}

/** What tokenizer_config.json holds, as far as it is read. */
interface TokenizerConfig {
  bos_token?: unknown;
  eos_token?: unknown;
  chat_template?: unknown;
  added_tokens_decoder?: unknown;
  [name: string]: unknown;
}

/**
 * Loads the tokenizer of a checkpoint: tokenizer.json, with tokenizer_config.json and the chat template where they are.
 *
 * @param checkpoint - a checkpoint, or anything with the path of a folder
 * @throws {@link InputError} `ERR_INPUT` naming the file that is missing or malformed
 */
export async function loadTokenizer(checkpoint: { readonly path: string }): Promise<Tokenizer> {
  const { path } = checkpoint;
  const file = join(path, "tokenizer.json");
  const json: TokenizerFile = await readObject(file);
  const optional = async (name: string): Promise<TokenizerConfig> =>
    (await exists(join(path, name))) ? readObject(join(path, name)) : {};
  // Older folders keep the names of the special tokens in a file of their own.
  const config = {
    ...(await optional("special_tokens_map.json")),
    ...(await optional("tokenizer_config.json")),
  };
  const template = await ChatTemplate.load(path, config);
  try {
    return new CheckpointTokenizer(withTokensOf(config, json), config, template);
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    throw new InputError("ERR_INPUT", `${file}: not a tokenizer: ${(cause as Error).message}`, { cause });
  }
}

async function readObject(file: string): Promise<Record<string, unknown>> {
  const json = await readJson(file);
  if (json !== null && typeof json === "object" && !Array.isArray(json))
    return json as Record<string, unknown>;
  throw new InputError("ERR_INPUT", `${file}: expected an object`);
}

// Added tokens may stand in tokenizer_config.json alone; where the two files disagree, tokenizer.json holds.
function withTokensOf({ added_tokens_decoder: more }: TokenizerConfig, json: TokenizerFile): TokenizerFile {
  if (more === null || typeof more !== "object") return json;
  const added = json.added_tokens ?? [];
  const ids = new Set(added.map(({ id }) => id));
  const names = new Set(added.map(({ content }) => content));
  const missing = Object.entries(more as Record<string, Omit<AddedToken, "id">>)
    .map(([id, token]) => ({ ...token, id: Number(id) }))
    .filter(({ id, content }) => !ids.has(id) && !names.has(content));
  return missing.length === 0 ? json : { ...json, added_tokens: [...added, ...missing] };
}

const NO_SPECIAL = { add_special_tokens: false };

class CheckpointTokenizer implements Tokenizer {
  readonly bosId?: number;
  readonly eosId?: number;
  readonly hasChatTemplate: boolean;

  /** Recognises every added token. */
  private readonly parsing: Engine;
  /** Recognises only the added tokens that are not special, as `split_special_tokens` does. */
  private readonly literal: Engine;
  private readonly special: string[];

  constructor(
    json: TokenizerFile,
    config: TokenizerConfig,
    private readonly template: ChatTemplate | undefined,
  ) {
    const added = json.added_tokens ?? [];
    const settings = { ...config, clean_up_tokenization_spaces: false };
    this.parsing = new Engine(json, settings);
    // The second engine is built around an empty vocabulary and then lent the first one's, which takes seconds to build.
    const others = added.filter((token) => !token.special);
    const empty = { ...json.model, vocab: {}, merges: [] };
    this.literal = new Engine({ ...json, added_tokens: others, model: empty }, settings);
    this.literal.model = this.parsing.model;
    // Longest first, so that a token is not taken for a shorter one that it starts with.
    this.special = added
      .filter((token) => token.special)
      .map((token) => token.content)
      .sort((a, b) => b.length - a.length);
    this.hasChatTemplate = template !== undefined;
    const bos = this.idOf(tokenName(config.bos_token) ?? "");
    const eos = this.idOf(tokenName(config.eos_token) ?? "");
    if (bos !== undefined) this.bosId = bos;
    if (eos !== undefined) this.eosId = eos;
  }

  encode(text: string, options: { special?: "text" | "parse"; addBos?: boolean } = {}): number[] {
    const { special = "text", addBos = false } = options;
    const engine = special === "parse" ? this.parsing : this.literal;
    const ids = text === "" ? [] : engine.encode(text, NO_SPECIAL).ids;
    if (!addBos) return ids;
    if (this.bosId === undefined) {
      throw new InputError("ERR_INPUT", "addBos: the tokenizer has no beginning-of-sequence token");
    }
    return [this.bosId, ...ids];
  }

  decode(ids: readonly number[]): string {
    return ids.length === 0 ? "" : this.parsing.decode([...ids], { skip_special_tokens: false });
  }

  idOf(token: string): number | undefined {
    return this.parsing.token_to_id(token);
  }

  tokenText(id: number): string {
    return this.decode([id]);
  }

  applyChatTemplate(
    messages: readonly ChatMessage[],
    options: { addGenerationPrompt?: boolean } = {},
  ): string {
    return this.chat().render(messages, options);
  }

  encodeChat(messages: readonly ChatMessage[], options: { addGenerationPrompt?: boolean } = {}): number[] {
    const forged = messages.some(({ content }) => this.special.some((token) => content.includes(token)));
    if (!forged) return this.encode(this.chat().render(messages, options), { special: "parse" });
    const { text, restore } = this.chat().renderGuarded(messages, options, (content) =>
      this.special.some((token) => content.includes(token)),
    );
    return this.splitSpecial(text).flatMap((piece) => {
      const id = piece.special ? this.idOf(piece.text) : undefined;
      return id === undefined ? this.encode(restore(piece.text)) : [id];
    });
  }

  private chat(): ChatTemplate {
    if (this.template !== undefined) return this.template;
    throw new InputError("ERR_INPUT", "the tokenizer has no chat template");
  }

  private splitSpecial(text: string): { text: string; special: boolean }[] {
    const pieces: { text: string; special: boolean }[] = [];
    let plain = 0;
    for (let at = 0; at < text.length; ) {
      const token = this.special.find((candidate) => text.startsWith(candidate, at));
      if (token === undefined) {
        at++;
        continue;
      }
      if (at > plain) pieces.push({ text: text.slice(plain, at), special: false });
      pieces.push({ text: token, special: true });
      at += token.length;
      plain = at;
    }
    if (plain < text.length) pieces.push({ text: text.slice(plain), special: false });
    return pieces;
  }
}
