import { ArgumentError, InputError } from "../../errors.ts";
import type { TextCodec } from "./codec.ts";

const SEPARATOR = 0;
const EOS = 1;
const PAD = 2;
const FIRST = 4; // after the unknown character's 3

/**
 * @internal A token per character, from id 4 in the order of `ords` (UTF-16 units); before them the separator that ends a
 * chat prompt, the end, padding and the unknown character. A character that is not listed is an error rather than unknown.
 */
export function characterCodec(ords: unknown, name: string): TextCodec {
  if (!Array.isArray(ords) || !ords.every((ord) => Number.isInteger(ord) && ord >= 0 && ord < 0x10000))
    throw new InputError("ERR_INPUT", `${name}: char_ords: expected a list of character codes`);
  const characters = ords.map((ord: number) => String.fromCharCode(ord));
  const ids = new Map(characters.map((character, i) => [character, FIRST + i]));
  const encode = (text: string) =>
    Array.from({ length: text.length }, (_, i) => {
      const id = ids.get(text[i]!);
      if (id !== undefined) return id;
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `text: expected characters of ${JSON.stringify(characters.join(""))}, got ${JSON.stringify(text[i])}`,
      );
    });
  return {
    encode,
    decode: (tokens) => Array.from(tokens, (id) => characters[id - FIRST] ?? "").join(""),
    encodeChat: (messages) => [...messages.flatMap(({ content }) => encode(content)), SEPARATOR],
    eosId: EOS,
    padId: PAD,
  };
}
