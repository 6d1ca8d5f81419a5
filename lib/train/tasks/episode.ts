import type { Ragged } from "../../ragged.ts";
import { raggedOffsets } from "../../ragged.ts";
import type { PromptRow } from "../data/prompts.ts";
import type { Generator } from "../rl/types.ts";

/**
 * Ends responses where their episode ends: after that, no token changes any reward, so none is worth training on (its
 * return is 0 whatever it is, and so would be a perfect baseline). A response that ends this way counts as stopped.
 *
 * @param endOf - tokens of a response up to the end of its episode, it included; `undefined` where it goes on
 */
export function endEpisodes(
  generator: Generator,
  endOf: (prompt: PromptRow, tokens: Int32Array) => number | undefined,
): Generator {
  return {
    ...generator,
    async generate(request) {
      const { tokens, logProbs, stopped } = await generator.generate(request);
      const { data, offsets } = tokens;
      const ends = Array.from(stopped, (_, row) => {
        const prompt = request.prompts[Math.floor(row / request.n)]!;
        return endOf(prompt, data.subarray(offsets[row], offsets[row + 1]));
      });
      const counts = ends.map((end, row) => end ?? offsets[row + 1]! - offsets[row]!);
      return {
        tokens: firsts(tokens, counts),
        logProbs: firsts(logProbs, counts),
        stopped: stopped.map((was, row) => (ends[row] === undefined ? was : 1)),
      };
    },
  };
}

function firsts<T extends Int32Array | Float32Array>(
  { data, offsets }: Ragged<T>,
  counts: readonly number[],
): Ragged<T> {
  const kept = raggedOffsets(counts);
  const out = data.slice(0, kept[counts.length]) as T;
  for (const [row, count] of counts.entries())
    out.set(data.subarray(offsets[row], offsets[row]! + count), kept[row]);
  return { data: out, offsets: kept };
}
