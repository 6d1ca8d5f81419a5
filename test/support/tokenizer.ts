import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Characters that stand for bytes in byte-level vocabularies: printable ones for themselves, the others from 256 on.
function byteCharacters(): string[] {
  const printable = (b: number) => (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, b) => String.fromCodePoint(printable(b) ? b : next++));
}

export const CHATML =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + (message.content | trim) + '<|im_end|>\\n' }}" +
  "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

export const IDS = { imStart: 300, imEnd: 301, think: 302, bos: 303 };

/** Writes a small byte-level tokenizer with ChatML, in the layout of a checkpoint. */
export function writeTokenizer(folder: string, template: string | undefined = CHATML): string {
  mkdirSync(folder, { recursive: true });
  const vocab: Record<string, number> = {};
  for (const [b, character] of byteCharacters().entries()) vocab[character] = b;
  const merges = [
    [".", "\u010a"],
    ["h", "i"],
    ["\u0120", "+"],
    ["<", "|"],
  ];
  for (const [i, pair] of merges.entries()) vocab[pair.join("")] = 256 + i;
  const added = (id: number, content: string, special: boolean) => ({
    id,
    content,
    special,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  });
  const tokenizer = {
    version: "1.0",
    added_tokens: [
      added(IDS.imStart, "<|im_start|>", true),
      added(IDS.imEnd, "<|im_end|>", true),
      added(IDS.think, "<think>", false),
      added(IDS.bos, "<s>", true),
    ],
    normalizer: { type: "NFC" },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        {
          type: "Split",
          pattern: { Regex: "\\s?[\\p{L}\\p{N}]+| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s+" },
          behavior: "Isolated",
          invert: false,
        },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
    decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: { type: "BPE", dropout: null, unk_token: null, byte_fallback: false, vocab, merges },
  };
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
  const config = {
    tokenizer_class: "Qwen2Tokenizer",
    bos_token: { content: "<s>", lstrip: false },
    eos_token: "<|im_end|>",
    ...(template === undefined ? {} : { chat_template: template }),
  };
  writeFileSync(join(folder, "tokenizer_config.json"), JSON.stringify(config));
  return folder;
}
