import { type Ragged, raggedOffsets } from "../../ragged.ts";
import { joinRows } from "../batches.ts";
import type { TrainableModel } from "../engine/model.ts";
import type { TextCodec } from "../text/codec.ts";
import type { GeneratedResponses, Generator } from "./types.ts";

/**
 * Draws with the training engine itself. A response depends on the weights, the seed, the tokens of its prompt and the
 * number of the sample: not on what else is drawn.
 *
 * Texts that end a response are looked for when it is written, and what follows them is cut off: nothing else about a
 * response depends on them.
 *
 * @param batch - responses under way at a time; bounds the memory of the cache
 */
export function engineGenerator(model: TrainableModel, codec: TextCodec, batch = 256): Generator {
  return {
    exact: true,
    async generate(request) {
      const { prompts, n, stop, stopIds, topK = 0, topP = 1, minP = 0, signal, ...rest } = request;
      const drawn = await model.generate(joinRows(prompts.map(({ ids }) => ids)), {
        samples: n,
        firstSample: rest.firstSample,
        maxTokens: rest.maxTokens,
        temperature: rest.temperature,
        seed: rest.seed,
        stopIds,
        topK,
        topP,
        minP,
        batch,
        ...(signal === undefined ? {} : { signal }),
      });
      return stop.length === 0 ? drawn : cutAtTexts(drawn, stop, codec);
    },
  };
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
  const complete = (count: number) => {
    const text = codec.decode(ids.subarray(0, count));
    return stop.some((wanted) => text.includes(wanted));
  };
  if (!complete(ids.length)) return undefined;
  let [low, high] = [0, ids.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (complete(middle)) high = middle;
    else low = middle;
  }
  return high;
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
