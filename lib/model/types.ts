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

/** A linear layer with a logit per class: `score`. */
export interface TokenClassificationHead {
  /** Tells the heads apart. */
  kind: "token-classification";
  /** Number of logits. */
  classes: number;
}

/** Two linear layers with a ReLU between: `score.0`, `score.2`. */
export interface MlpHead {
  /** Tells the heads apart. */
  kind: "mlp";
  /** Number of logits. */
  classes: number;
}

/** A value: `v_head.summary`. */
export interface ValueHead {
  /** Tells the heads apart. */
  kind: "value";
}

/** Logits of some tokens: rows of the LM head, or of the tied embedding. */
export interface LmRowsHead {
  /** Tells the heads apart. */
  kind: "lm-rows";
  /** The tokens, in the order of the outputs. */
  tokenIds: readonly number[];
}

/** Log-probabilities of given target tokens over the whole vocabulary. */
export interface LmHead {
  /** Tells the heads apart. */
  kind: "lm";
}

/** One number: a `score` of one row without classes. */
export interface ScalarHead {
  /** Tells the heads apart. */
  kind: "scalar";
}

/** What stands on the backbone. */
export type Head = TokenClassificationHead | MlpHead | ValueHead | LmRowsHead | LmHead | ScalarHead;

/** One ragged batch of integers: row `i` is `data[offsets[i] .. offsets[i + 1])`. */
export interface RaggedInts {
  /** The rows, one after the other. */
  readonly data: Int32Array;
  /** First index of each row, and the length of `data`. */
  readonly offsets: Int32Array;
}

/** Branches of packed rows, one value per token. */
export interface TokenTree {
  /** Rotary positions; they rise inside the trunk and inside each branch. */
  positions: Int32Array;
  /** 0 for the trunk (plain causal); b > 0 for the tokens of branch b. */
  branch: Int32Array;
  /** Per token of a branch: how many of the row's trunk tokens it sees, besides the earlier tokens of its branch. */
  trunkVisible: Int32Array;
}

/** Rows to run. */
export interface HeadBatch {
  /** Token ids. */
  readonly ids: RaggedInts;
  /** Per row: the positions to read. */
  readonly reads: RaggedInts;
  /** For an `lm` head, and only there: the token whose log-probability is read, one per read. */
  readonly targets?: RaggedInts;
  /** Rows that branch: several continuations of one text, as if each were run alone. */
  readonly tree?: TokenTree;
}

/** One loaded backbone and head in a worker thread. */
export interface HeadRunner {
  /** Values per read position. */
  readonly outputs: number;
  /** The model's context length. */
  readonly maxLength: number;
  /**
   * Longest row that may branch: beyond it, frequencies of rotary embeddings depend on the length of each
   * continuation. Missing where no length does.
   */
  readonly treeLength?: number;
  /** `[total reads, outputs]`, raw logits in float32, in order (`lm`: log-probability of the target). */
  run(batch: HeadBatch, options?: { signal?: AbortSignal }): Promise<Float32Array>;
  /** Ends the worker. */
  close(): Promise<void>;
}
