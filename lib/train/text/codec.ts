import { join } from "node:path";
import { InputError } from "../../errors.ts";
import { readJson } from "../../model/checkpoint.ts";
import { exists } from "../../hub/cache.ts";
import { characterCodec } from "./characters.ts";
import { tokenizerCodec } from "./tokenizer.ts";

/** Text to token ids and back, as a model's vocabulary has it. */
export interface TextCodec {
  /** Ids of a text; nothing is added. */
  encode(text: string): number[];
  /** The text of ids; the tokens that start, end and pad have none. */
  decode(ids: ArrayLike<number>): string;
  /** Ids of a chat up to where the assistant writes; only where the folder has a chat template. */
  encodeChat?(messages: readonly ChatTurn[]): number[];
  /** Ends a response. */
  readonly eosId?: number;
  /** Starts every prompt that is plain text; only where the tokenizer adds one. */
  readonly bosId?: number;
  /** Padding. */
  readonly padId?: number;
}

/** A turn of a chat. */
export interface ChatTurn {
  /** `system`, `user` or `assistant`. */
  readonly role: string;
  /** What is said. */
  readonly content: string;
}

/**
 * The codec of a checkpoint folder: its tokenizer.json, or the characters that `char_ords` of tokenizer_config.json lists.
 *
 * @throws {@link InputError} `ERR_INPUT` for a folder without either, or with a malformed one
 */
export async function openCodec(folder: string): Promise<TextCodec> {
  const path = join(folder, "tokenizer_config.json");
  const config = (await exists(path)) ? await readJson(path) : {};
  if (config === null || typeof config !== "object" || Array.isArray(config))
    throw new InputError("ERR_INPUT", `${path}: expected an object`);
  if ("char_ords" in config) return characterCodec(config.char_ords, path);
  if (!(await exists(join(folder, "tokenizer.json"))))
    throw new InputError("ERR_INPUT", `${folder}: has no tokenizer.json`);
  return tokenizerCodec(folder, config as Record<string, unknown>);
}

/** Ids of a prompt of plain text, the starting token included. */
export function promptIds(codec: TextCodec, text: string): Int32Array {
  const ids = codec.encode(text);
  return Int32Array.from(codec.bosId === undefined ? ids : [codec.bosId, ...ids]);
}
