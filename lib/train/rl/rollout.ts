import { ArgumentError } from "../../errors.ts";
import { assertRagged, assertSameRows, assertVector } from "../../validate.ts";
import type { PromptRow } from "../data/prompts.ts";
import type { TextCodec } from "../text/codec.ts";
import type { GeneratedResponses, GenerateRequest, Generator, Rollouts } from "./types.ts";

/** @internal Draws responses to prompts, and reads them as text. */
export async function rollOut(
  generator: Generator,
  codec: TextCodec,
  request: GenerateRequest,
): Promise<Rollouts> {
  const { prompts, n } = request;
  const responses = await generator.generate(request);
  assertResponses(responses, prompts.length * n);
  const { tokens, logProbs, stopped } = responses;
  const promptOf = Int32Array.from({ length: prompts.length * n }, (_, row) => Math.floor(row / n));
  const texts = Array.from(promptOf, (_, row) =>
    codec.decode(tokens.data.subarray(tokens.offsets[row], tokens.offsets[row + 1])),
  );
  return { prompts, promptOf, tokens, logProbs, stopped, texts };
}

function assertResponses({ tokens, logProbs, stopped }: GeneratedResponses, rows: number): void {
  assertRagged(tokens as never, "generator.tokens", ["Int32Array"]);
  assertRagged(logProbs, "generator.logProbs", ["Float32Array"]);
  assertSameRows(logProbs.offsets, "generator.logProbs", tokens.offsets, "generator.tokens");
  assertVector(stopped, "generator.stopped", tokens.offsets.length - 1, ["Uint8Array"]);
  if (tokens.offsets.length - 1 === rows) return;
  throw new ArgumentError(
    "ERR_SHAPE",
    `generator.tokens: expected ${rows} responses, got ${tokens.offsets.length - 1}`,
  );
}

/** @internal The same responses to one prompt each, as a group. */
export function groupOf(rollouts: Rollouts, row: number): PromptRow {
  return rollouts.prompts[rollouts.promptOf[row]!]!;
}
