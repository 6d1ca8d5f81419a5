import { type Ragged, raggedOffsets } from "../../ragged.ts";
import { ASKED_EVERY } from "../engine/asking.ts";
import type { TextCodec } from "../text/codec.ts";
import type { GeneratedResponses } from "./types.ts";

/**
 * @internal Whether a response holds one of the texts, asked about it at every {@link ASKED_EVERY}th token. It looks at
 * the tokens since the question before, and at as many before them as a text has bytes: a token without a text of its own
 * among those can hide one, which then ends the response later, at {@link cutAtTexts}, at the same token.
 */
export function holdsText(stop: readonly string[], codec: TextCodec): (tokens: Int32Array) => boolean {
  // The first character of what is looked at can be half of one, or lack the space before it.
  const first = 4;
  const looked = ASKED_EVERY + first + Math.max(...stop.map((text) => Buffer.byteLength(text)));
  return (tokens) => holds(tokens.subarray(-looked), stop, codec) && holds(tokens, stop, codec);
}

/** @internal Responses up to the first token at which one of the texts is complete. */
export function cutAtTexts(
  drawn: GeneratedResponses,
  stop: readonly string[],
  codec: TextCodec,
): GeneratedResponses {
  const { tokens, stopped } = drawn;
  const rows = stopped.length;
  const ends = Array.from({ length: rows }, (_, row) =>
    firstComplete(tokens.data.subarray(tokens.offsets[row], tokens.offsets[row + 1]), stop, codec),
  );
  return {
    tokens: cut(tokens, ends),
    logProbs: cut(drawn.logProbs, ends),
    stopped: Uint8Array.from(stopped, (was, row) => (ends[row] === undefined ? was : 1)),
  };
}

// Tokens up to which a text is complete, by halves: the text of a longer prefix holds that of a shorter one.
function firstComplete(ids: Int32Array, stop: readonly string[], codec: TextCodec): number | undefined {
  const complete = (count: number) => holds(ids.subarray(0, count), stop, codec);
  if (!complete(ids.length)) return undefined;
  let [low, high] = [0, ids.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (complete(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function holds(ids: Int32Array, stop: readonly string[], codec: TextCodec): boolean {
  const text = codec.decode(ids);
  return stop.some((wanted) => text.includes(wanted));
}

function cut<T extends Int32Array | Float32Array>(
  values: Ragged<T>,
  ends: readonly (number | undefined)[],
): Ragged<T> {
  const { data, offsets } = values;
  const kept = raggedOffsets(ends.map((end, row) => end ?? offsets[row + 1]! - offsets[row]!));
  const out = new (data.constructor as new (length: number) => T)(kept[ends.length]!);
  ends.forEach((_, row) => {
    out.set(data.subarray(offsets[row]!, offsets[row]! + kept[row + 1]! - kept[row]!), kept[row]!);
  });
  return { data: out, offsets: kept };
}
