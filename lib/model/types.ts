/** Text to ids and back, with literal special-token text under control. */
export interface Tokenizer {
  /**
   * Ids of a text. `special: "text"` (default) keeps special-token text in the input ordinary text; `"parse"`
   * recognises added tokens (templates).
   */
  encode(text: string, options?: { special?: "text" | "parse"; addBos?: boolean }): number[];
  /** Text of ids; special tokens are kept as text. */
  decode(ids: readonly number[]): string;
  /** Id of one added or vocabulary token by its exact text. */
  idOf(token: string): number | undefined;
  /** Text of one id (byte-level decoded where complete). */
  tokenText(id: number): string;
  /** Beginning-of-sequence id, where the tokenizer has one. */
  readonly bosId?: number;
  /** End-of-sequence id, where the tokenizer has one. */
  readonly eosId?: number;
  /** Whether the folder holds a chat template. */
  readonly hasChatTemplate: boolean;
  /** Text with special tokens, to be encoded with `special: "parse"`; user content is not protected: see `encodeChat`. */
  applyChatTemplate(
    messages: readonly { role: string; content: string }[],
    options?: { addGenerationPrompt?: boolean },
  ): string;
  /** Ids of a rendered conversation in which literal special-token text in contents stays text. */
  encodeChat(
    messages: readonly { role: string; content: string }[],
    options?: { addGenerationPrompt?: boolean },
  ): number[];
}

/** What stands on the backbone. */
export type Head =
  | { kind: "token-classification"; classes: number }
  | { kind: "mlp"; classes: number }
  | { kind: "value" }
  | { kind: "lm-rows"; tokenIds: readonly number[] }
  | { kind: "lm" }
  | { kind: "scalar" };

/** One ragged batch of integers. */
export interface RaggedInts {
  readonly data: Int32Array;
  readonly offsets: Int32Array;
}

/** Rows to run: token ids, the positions to read, and for `lm` heads the target at each read. */
export interface HeadBatch {
  readonly ids: RaggedInts;
  readonly reads: RaggedInts;
  readonly targets?: RaggedInts;
  /**
   * One value per token of `ids`. Branch 0 is the trunk (plain causal); a token of branch b > 0 sees the first
   * `trunkVisible` tokens of the row's trunk and the earlier tokens of its own branch; `positions` are rotary positions.
   */
  readonly tree?: { positions: Int32Array; branch: Int32Array; trunkVisible: Int32Array };
}

/** One loaded backbone and head in a worker thread. */
export interface HeadRunner {
  /** Values per read position. */
  readonly outputs: number;
  /** The model's context length. */
  readonly maxLength: number;
  /** `[total reads, outputs]`, raw logits in float32, in order (`lm`: log-probability of the target). */
  run(batch: HeadBatch, options?: { signal?: AbortSignal }): Promise<Float32Array>;
  /** Ends the worker. */
  close(): Promise<void>;
}
