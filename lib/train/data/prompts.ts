import { InputError } from "../../errors.ts";
import { assertCount, describe } from "../../validate.ts";
import { promptOf } from "../arithmetic/problem.ts";
import { type Split, SPLITS, splitProblem } from "../arithmetic/split.ts";
import { promptIds, type TextCodec } from "../text/codec.ts";
import { readPrompt } from "./chat.ts";
import { at, firstOf, type PlacedRow, readPlacedRows } from "./lines.ts";
import { assertTemplate, fillTemplate } from "./template.ts";

/** A prompt to be answered. */
export interface PromptRow {
  /** Unique in its set. */
  readonly id: string;
  /** What is asked: the text, without the template, or the last user turn. */
  readonly text: string;
  /** Ids of the whole prompt, the starting token included. */
  readonly ids: Int32Array;
  /** The right answer; `null` where there is none. */
  readonly answer: string | null;
  /** Difficulty, where the data tells. */
  readonly level?: number;
}

/** Where the parts of a prompt stand in a row; dots go into objects (`reward_model.ground_truth`). */
export interface PromptKeys {
  /** Text, or chat turns. Default: `prompt`, `problem` or `question`. */
  readonly prompt?: string;
  /** Text, a number, or a list of them. Default: `answer`, `final_answer`, `gt` or `reward_model.ground_truth`. */
  readonly answer?: string;
  /** Text or number. Default: `id`, `unique_id`; without, rows are numbered from 0. */
  readonly id?: string;
  /** A number, or text that holds one (`Level 5`). Default: `level`. */
  readonly level?: string;
}

/** Options of {@link readPrompts}. */
export interface ReadPromptsOptions {
  /** Names of the keys. */
  readonly keys?: PromptKeys;
  /** So many rows: the first ones of a file (default all), or how many are made of the embedded task (default 2048). */
  readonly limit?: number;
  /** Seed of the rows that are made. Default 1. */
  readonly seed?: number;
  /** A text that holds `{prompt}` once: what the model reads around a prompt that is a text. Default: nothing. */
  readonly template?: string;
}

/** @internal Where an answer is looked for. */
export const ANSWER_KEYS = ["answer", "final_answer", "gt", "reward_model.ground_truth"];

const EMBEDDED = "arithmetic:";
const MADE = 2048;

/**
 * Reads prompts: a JSONL, JSON or parquet file, or `arithmetic:train` and `arithmetic:held-out`, sets of problems of the
 * embedded task that share no prompt; a problem's level is its number of terms.
 *
 * @throws {@link InputError} `ERR_INPUT` naming file and line of a row that has no prompt, an empty one, an answer that
 * is an object or has more digits than a JSON number keeps, or an id that another row has; {@link ArgumentError}
 */
export async function readPrompts(
  source: string,
  codec: TextCodec,
  options: ReadPromptsOptions = {},
): Promise<PromptRow[]> {
  const { keys = {}, limit, seed = 1, template = "{prompt}" } = options;
  assertTemplate(template);
  if (limit !== undefined) assertCount(limit, "limit");
  if (source.startsWith(EMBEDDED)) return embedded(source, codec, limit ?? MADE, seed, template);
  const rows = (await readPlacedRows(source)).slice(0, limit);
  const seen = new Map<string, string>();
  return rows.map((placed, i) => {
    const row = at(placed.where, () => readRow(placed, i, codec, keys, template));
    const before = seen.get(row.id);
    if (before !== undefined)
      throw new InputError("ERR_INPUT", `${placed.where}: ${before} has the same id, ${row.id}`);
    seen.set(row.id, placed.where);
    return row;
  });
}

function readRow(
  { row }: PlacedRow,
  index: number,
  codec: TextCodec,
  keys: PromptKeys,
  template: string,
): PromptRow {
  const names = keys.prompt === undefined ? ["prompt", "problem", "question"] : [keys.prompt];
  const { text, ids } = readPrompt(firstOf(row, names), codec, names, template);
  if (ids.length === 0)
    throw new InputError("ERR_INPUT", `expected a prompt of at least one token at ${names.join(" or ")}`);
  const answer = plainAt(row, keys.answer === undefined ? ANSWER_KEYS : [keys.answer]);
  const id = plainAt(row, keys.id === undefined ? ["id", "unique_id"] : [keys.id]);
  const level = readLevel(firstOf(row, [keys.level ?? "level"]));
  return {
    id: id ?? String(index),
    text,
    ids,
    answer: answer ?? null,
    ...(level === undefined ? {} : { level }),
  };
}

// A list is of answers that are right together, as `minform eval` has it.
function plainAt(row: PlacedRow["row"], names: readonly string[]): string | undefined {
  const value = firstOf(row, names);
  const plain = (one: unknown) => plainText(one, names);
  return Array.isArray(value) && value.length > 0
    ? value.map(plain).join(", ")
    : value === undefined
      ? undefined
      : plain(value);
}

// What has no such text, or lost digits when it was read, would be a wrong answer that looks like one.
function plainText(value: unknown, names: readonly string[]): string {
  if (typeof value === "string") return value;
  const isWhole = typeof value !== "number" || !Number.isInteger(value) || Number.isSafeInteger(value);
  if (isWhole && ["number", "bigint", "boolean"].includes(typeof value)) return String(value);
  throw new InputError(
    "ERR_INPUT",
    `expected text or a number of at most 15 digits at ${names.join(" or ")}, got ${describe(value)}`,
  );
}

function readLevel(value: unknown): number | undefined {
  const level =
    typeof value === "string" ? Number(/-?\d+(\.\d+)?/.exec(value)?.[0] ?? Number.NaN) : Number(value);
  return value === undefined || !Number.isFinite(level) ? undefined : level;
}

function embedded(
  source: string,
  codec: TextCodec,
  count: number,
  seed: number,
  template: string,
): PromptRow[] {
  const split = source.slice(EMBEDDED.length) as Split;
  if (!SPLITS.includes(split)) {
    throw new InputError(
      "ERR_INPUT",
      `${source}: expected ${SPLITS.map((name) => EMBEDDED + name).join(" or ")}`,
    );
  }
  return Array.from({ length: count }, (_, i) => {
    const problem = splitProblem(split, seed, i);
    const text = promptOf(problem);
    return {
      id: `${split}-${i}`,
      text,
      ids: promptIds(codec, fillTemplate(template, text)),
      answer: String(problem.answer),
      level: problem.terms.length,
    };
  });
}
