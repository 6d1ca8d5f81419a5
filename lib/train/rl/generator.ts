import { joinRows } from "../batches.ts";
import type { TrainableModel } from "../engine/model.ts";
import type { TextCodec } from "../text/codec.ts";
import { cutAtTexts, holdsText } from "./stop-texts.ts";
import type { Generator } from "./types.ts";

/**
 * Draws with the training engine itself. A response depends on the weights, the seed, the tokens of its prompt and the
 * number of the sample: not on what else is drawn.
 *
 * Texts that end a response are looked for while it is written, and it is written little further than the first of them;
 * what follows is cut off: nothing else about a response depends on them.
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
        ...(stop.length === 0 ? {} : { isDone: holdsText(stop, codec) }),
        ...(signal === undefined ? {} : { signal }),
      });
      return stop.length === 0 ? drawn : cutAtTexts(drawn, stop, codec);
    },
  };
}
