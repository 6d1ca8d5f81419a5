import { InputError } from "../../errors.ts";
import { mixtureExample } from "../arithmetic/data.ts";
import { promptOf } from "../arithmetic/problem.ts";
import type { Split } from "../arithmetic/split.ts";
import { promptIds, type TextCodec } from "../text/codec.ts";
import { readPrompt } from "./chat.ts";
import { at, firstOf, readPlacedRows, textOf } from "./lines.ts";

/** A prompt and what is to be written after it. */
export interface SftRow {
  /** Ids of the prompt. */
  readonly prompt: Int32Array;
  /** Ids of the completion, the token that ends it included. */
  readonly completion: Int32Array;
}

const PROMPTS = ["prompt", "question", "problem", "instruction"];
const COMPLETIONS = ["completion", "response", "solution", "output"];

/**
 * Reads rows `{ prompt, completion }`: each text or a list of chat turns, of which a completion has one. A chat of one
 * list, `{ messages }`, is split before its last turn. The codec's end token is added.
 *
 * @throws {@link InputError} `ERR_INPUT` naming file and line
 */
export async function readSftRows(path: string, codec: TextCodec): Promise<SftRow[]> {
  const rows = await readPlacedRows(path);
  return rows.map(({ row, where }) =>
    at(where, () => {
      const { messages } = row;
      const chat = Array.isArray(messages) ? messages : undefined;
      const given = chat === undefined ? firstOf(row, PROMPTS) : chat.slice(0, -1);
      const said = chat === undefined ? firstOf(row, COMPLETIONS) : chat.slice(-1);
      const text = textOf(Array.isArray(said) && said.length === 1 ? said[0]?.content : said, COMPLETIONS);
      const { ids: prompt } = readPrompt(given, codec, PROMPTS);
      if (prompt.length === 0) throw new InputError("ERR_INPUT", "expected a prompt of at least one token");
      return { prompt, completion: withEnd(codec, text) };
    }),
  );
}

/** The mixture of the embedded task: rows `from` to `from + count - 1`. */
export function mixtureRows(split: Split, codec: TextCodec, count: number, seed: number): SftRow[] {
  return Array.from({ length: count }, (_, i) => {
    const { problem, tokens } = mixtureExample(split, seed, i);
    return { prompt: promptIds(codec, promptOf(problem)), completion: Int32Array.from(tokens) };
  });
}

function withEnd(codec: TextCodec, text: string): Int32Array {
  const ids = codec.encode(text);
  return Int32Array.from(codec.eosId === undefined ? ids : [...ids, codec.eosId]);
}
