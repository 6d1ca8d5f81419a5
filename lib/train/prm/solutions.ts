import { InputError } from "../../errors.ts";
import type { StepwiseRow } from "../data/stepwise.ts";
import { promptIds, type TextCodec } from "../text/codec.ts";

/** @internal A labelled solution as ids: prompt, then each step and the separator that closes it. */
export interface EncodedSolution {
  readonly ids: Int32Array;
  /** Where the separators are. */
  readonly ends: Int32Array;
  readonly labels: readonly (boolean | null)[];
}

/** @internal Prompt, steps and separators are encoded alone, so that no separator merges with its step. */
export function encodeSolution(row: StepwiseRow, codec: TextCodec, separatorId: number): EncodedSolution {
  const ids = [...promptIds(codec, row.prompt)];
  const ends = row.completions.map((step) => {
    for (const id of codec.encode(step)) ids.push(id);
    return ids.push(separatorId) - 1;
  });
  return { ids: Int32Array.from(ids), ends: Int32Array.from(ends), labels: row.labels };
}

/** @internal The id of a separator, which must be one token. */
export function separatorIdOf(codec: TextCodec, separator: string): number {
  const ids = codec.encode(separator);
  if (ids.length === 1) return ids[0]!;
  throw new InputError(
    "ERR_INPUT",
    `separator: expected text of one token, ${JSON.stringify(separator)} has ${ids.length} (${ids.join(" ")})`,
  );
}
