// A small tokenizer with a ChatML template: words, digits, punctuation runs and newline runs are tokens; a newline run
// fuses with the punctuation before it, as in the vocabularies of real policies.
import type { Tokenizer } from "../../lib/model/types.ts";

const specials = ["<|im_start|>", "<|im_end|>", "<|eos|>", "<extra_0>"];

export interface ToyOptions {
  /** Text between the assistant header and its words. */
  lead?: string;
  chat?: boolean;
  without?: string[];
  bos?: boolean;
}

export function toyTokenizer({
  lead = "",
  chat = true,
  without = [],
  bos = false,
}: ToyOptions = {}): Tokenizer {
  const known = specials.filter((special) => !without.includes(special));
  const texts = [...known, "\n", "+", "-", "\n\n"];
  const ids = new Map(texts.map((text, id) => [text, id]));
  const id = (text: string): number => {
    let found = ids.get(text);
    if (found === undefined) {
      found = texts.length;
      texts.push(text);
      ids.set(text, found);
    }
    return found;
  };
  const words = (text: string): number[] =>
    (text.match(/ ?[A-Za-z]+|\d| ?[^\sA-Za-z\d]+\n*|\n+| +(?! )|\s/g) ?? []).map(id);
  const encode = (text: string, special: "text" | "parse"): number[] => {
    if (special === "text") return words(text);
    const pattern = new RegExp(`(${known.map((s) => s.replace(/[|<>]/g, "\\$&")).join("|")})`);
    return text.split(pattern).flatMap((piece, i) => (i % 2 === 1 ? [ids.get(piece)!] : words(piece)));
  };
  const render = (
    messages: readonly { role: string; content: string }[],
    open = false,
    hold = (text: string) => text,
  ): string => {
    const last = messages.length - 1;
    const turns = messages.map(({ role, content }, i) => {
      const before = role === "assistant" && i === last ? lead : "";
      return `<|im_start|>${role}\n${before}${hold(content)}<|im_end|>\n`;
    });
    return turns.join("") + (open ? "<|im_start|>assistant\n" : "");
  };
  const eos = known.includes("<|eos|>") ? { eosId: ids.get("<|eos|>")! } : {};
  return {
    encode: (text, options) => [
      ...(options?.addBos && bos ? [id("<s>")] : []),
      ...encode(text, options?.special ?? "text"),
    ],
    decode: (list) => list.map((one) => texts[one] ?? "").join(""),
    idOf: (token) => ids.get(token),
    tokenText: (one) => texts[one] ?? "",
    ...(bos ? { bosId: id("<s>") } : {}),
    ...eos,
    hasChatTemplate: chat,
    applyChatTemplate: (messages, options) => render(messages, options?.addGenerationPrompt),
    encodeChat(messages, options) {
      const held: string[] = [];
      const text = render(messages, options?.addGenerationPrompt, (content) => {
        held.push(content);
        return `\uE000${held.length - 1}\uE001`;
      });
      // Special tokens cut the text first; contents go back into the runs between them.
      const pattern = new RegExp(`(${known.map((s) => s.replace(/[|<>]/g, "\\$&")).join("|")})`);
      return text
        .split(pattern)
        .flatMap((piece, i) =>
          i % 2 === 1
            ? [ids.get(piece)!]
            : words(piece.replace(/\uE000(\d+)\uE001/g, (_, k) => held[Number(k)]!)),
        );
    },
  };
}
