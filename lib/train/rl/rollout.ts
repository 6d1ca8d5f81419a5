import type { PromptRow } from "../data/prompts.ts";
import type { TextCodec } from "../text/codec.ts";
import type { GenerateRequest, Generator, Rollouts } from "./types.ts";

/** @internal Draws responses to prompts, and reads them as text. */
export async function rollOut(
  generator: Generator,
  codec: TextCodec,
  request: GenerateRequest,
): Promise<Rollouts> {
  const { prompts, n } = request;
  const { tokens, logProbs, stopped } = await generator.generate(request);
  const promptOf = Int32Array.from({ length: prompts.length * n }, (_, row) => Math.floor(row / n));
  const texts = Array.from(promptOf, (_, row) =>
    codec.decode(tokens.data.subarray(tokens.offsets[row], tokens.offsets[row + 1])),
  );
  return { prompts, promptOf, tokens, logProbs, stopped, texts };
}

/** @internal The same responses to one prompt each, as a group. */
export function groupOf(rollouts: Rollouts, row: number): PromptRow {
  return rollouts.prompts[rollouts.promptOf[row]!]!;
}
