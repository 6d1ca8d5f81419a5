import type { TextCodec } from "../text/codec.ts";
import { BOS, decodeTokens, encodeTokens, EOS, PAD } from "./vocabulary.ts";

/** The vocabulary of the embedded task. */
export const arithmeticCodec: TextCodec = {
  encode: encodeTokens,
  decode: (ids) => decodeTokens(Array.from(ids)),
  bosId: BOS,
  eosId: EOS,
  padId: PAD,
};
