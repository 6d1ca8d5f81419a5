import { InputError } from "../../errors.ts";
import { mixtureExample } from "../arithmetic/data.ts";
import { promptOf } from "../arithmetic/problem.ts";
import type { Split } from "../arithmetic/split.ts";
import { type ChatTurn, promptIds, type TextCodec } from "../text/codec.ts";
import { checkTurns, readPrompt } from "./chat.ts";
import { at, firstOf, type PlacedRow, readPlacedRows, textOf } from "./lines.ts";

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
 * list, `{ messages }`, is split before its last turn. What is completed is the assistant's. The codec's end token is added.
 *
 * @throws {@link InputError} `ERR_INPUT` naming file and line, also for a role that is none of system, user, assistant and
 * tool, a completion that is another's than the assistant's, and one that is empty
 */
export async function readSftRows(path: string, codec: TextCodec): Promise<SftRow[]> {
  const rows = await readPlacedRows(path);
  return rows.map((placed) => at(placed.where, () => readRow(placed, codec)));
}

function readRow({ row }: PlacedRow, codec: TextCodec): SftRow {
  const { given, said } = Array.isArray(row.messages) ? splitChat(row.messages) : splitRow(row);
  const { ids: prompt } = readPrompt(given, codec, PROMPTS);
  if (prompt.length === 0) throw new InputError("ERR_INPUT", "expected a prompt of at least one token");
  if (said === "") throw new InputError("ERR_INPUT", "expected a completion of at least one token");
  return { prompt, completion: withEnd(codec, said) };
}

interface Parts {
  /** Text, or chat turns. */
  readonly given: unknown;
  readonly said: string;
}

function splitChat(messages: readonly unknown[]): Parts {
  const turns = checkTurns(messages, "messages");
  return { given: turns.slice(0, -1), said: assistantText(turns.at(-1), "messages") };
}

function splitRow(row: PlacedRow["row"]): Parts {
  const [given, said] = [firstOf(row, PROMPTS), firstOf(row, COMPLETIONS)];
  const isTurn = Array.isArray(said) && said.length === 1;
  return {
    given: Array.isArray(given) ? checkTurns(given, "prompt") : given,
    said: isTurn ? assistantText(checkTurns(said, "completion")[0], "completion") : textOf(said, COMPLETIONS),
  };
}

function assistantText(turn: ChatTurn | undefined, key: string): string {
  if (turn?.role === "assistant") return turn.content;
  const got = turn === undefined ? "no turn" : `the ${turn.role}'s`;
  throw new InputError("ERR_INPUT", `${key}: expected the last turn to be the assistant's, got ${got}`);
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
