/** Text to token ids and back, as a model's vocabulary has it. */
export interface TextCodec {
  /** Ids of a text; nothing is added. */
  encode(text: string): number[];
  /** The text of ids; the tokens that start, end and pad have none. */
  decode(ids: ArrayLike<number>): string;
  /** Ids of a chat up to where the assistant writes; only where the tokenizer has a chat template. */
  encodeChat?(messages: readonly { readonly role: string; readonly content: string }[]): number[];
  /** Ends a response. */
  readonly eosId?: number;
  /** Starts every prompt; only where the tokenizer adds one. */
  readonly bosId?: number;
  /** Padding. */
  readonly padId?: number;
}

/**
 * The codec of a checkpoint folder: its tokenizer.json, or the characters that `char_ords` of tokenizer_config.json lists.
 *
 * @throws {@link InputError} `ERR_INPUT` for a folder without either, or with a malformed one
 */
export declare function openCodec(folder: string): Promise<TextCodec>;
