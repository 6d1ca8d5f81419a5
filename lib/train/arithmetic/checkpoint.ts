import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { AtomicFile } from "../../atomic-file.ts";
import { BOS, EOS, PAD, TOKENS } from "./vocabulary.ts";

/** config.json of the embedded model: a Llama of 103 000 parameters. */
export const ARITHMETIC_MODEL = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  vocab_size: TOKENS.length,
  hidden_size: 64,
  intermediate_size: 176,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 4,
  max_position_embeddings: 128,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  hidden_act: "silu",
  tie_word_embeddings: false,
  bos_token_id: BOS,
  eos_token_id: EOS,
  pad_token_id: PAD,
} as const;

const SPECIAL = ["<pad>", "<s>", "</s>"];

/**
 * Writes the vocabulary of the embedded task as the tokenizer files of a checkpoint folder, which is made when missing.
 *
 * @throws {@link InputError} `ERR_INPUT` when a file cannot be written
 */
export async function writeArithmeticTokenizer(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const texts = TOKENS.map((text, id) => SPECIAL[id] ?? text);
  const special = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  writeJson(join(folder, "tokenizer.json"), {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content, id) => ({ id, content, ...special })),
    normalizer: null,
    // Two tokens of several characters, else a token per character.
    pre_tokenizer: {
      type: "Split",
      pattern: { Regex: "\\n\\n|\\\\boxed\\{|." },
      behavior: "Isolated",
      invert: false,
    },
    post_processor: startsWith(SPECIAL[BOS]!, BOS),
    decoder: { type: "Fuse" },
    model: {
      type: "WordLevel",
      vocab: Object.fromEntries(texts.map((text, id) => [text, id])),
      unk_token: "<pad>",
    },
  });
  writeJson(join(folder, "tokenizer_config.json"), {
    tokenizer_class: "PreTrainedTokenizerFast",
    bos_token: "<s>",
    eos_token: "</s>",
    pad_token: "<pad>",
    add_bos_token: true,
    clean_up_tokenization_spaces: false,
    model_max_length: ARITHMETIC_MODEL.max_position_embeddings,
  });
}

// Puts the starting token before every text.
function startsWith(token: string, id: number): object {
  const special = { SpecialToken: { id: token, type_id: 0 } };
  const text = (name: string, type_id: number) => ({ Sequence: { id: name, type_id } });
  return {
    type: "TemplateProcessing",
    single: [special, text("A", 0)],
    pair: [special, text("A", 0), text("B", 1)],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}

function writeJson(path: string, value: unknown): void {
  using file = new AtomicFile(path);
  file.write(Buffer.from(`${JSON.stringify(value, null, 2)}\n`));
  file.prepare();
  file.commit();
}
