// Rows of an expected.json beside a checkpoint: what they state, whichever of the optional keys they have.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Convention, PreparedItem, PrmItem } from "../../lib/prm/index.ts";
import { rowToItem } from "../../lib/prm/files/rows.ts";

/** A row of a checkpoint's expected.json. */
export interface ExpectedRow {
  question?: string;
  steps?: string[];
  text?: string;
  prompt?: string;
  prompt_ids?: number[];
  response?: string;
  response_ids?: number[];
  step_end_token_index?: number[];
  prm_input_ids?: number[];
  conversation?: { role: string; content: string }[];
  /** One row, or one per prefix. */
  input_ids?: number[] | number[][];
  attention_mask?: number[];
  num_tokens?: number;
  read_positions?: number[];
  step_rewards?: number[];
  /** Score of the last step. */
  reward?: number;
}

export function expectedRows(folder: string): ExpectedRow[] {
  return JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) as ExpectedRow[];
}

export const itemOf = (row: ExpectedRow, convention: Convention): PrmItem =>
  rowToItem(row as Record<string, unknown>, convention);

/** Ids that the reference fed to its model, one list per forward pass, padding left out; `undefined` where unsaid. */
export function idsOf({ prm_input_ids, input_ids, attention_mask }: ExpectedRow): number[][] | undefined {
  const given = prm_input_ids ?? input_ids;
  if (given === undefined) return undefined;
  const rows = Array.isArray(given[0]) ? (given as number[][]) : [given as number[]];
  return attention_mask === undefined
    ? rows
    : rows.map((ids) => ids.filter((_, i) => attention_mask[i] !== 0));
}

/**
 * What of a row's ids and positions an item does not meet that was prepared with a row per prefix; `undefined` when all
 * of it is met. Attention is causal: where the reference ran each prefix by itself, or said the reply that a prefix is
 * read before, ids are compared up to the read.
 */
export function mismatch(
  row: ExpectedRow,
  { rows, stepEnds }: PreparedItem,
  { read }: Convention,
): string | undefined {
  const expected = idsOf(row);
  const reads = rows.flatMap((found) => found.reads);
  const positions = row.read_positions?.map((at, k) => (at < 0 ? expected!.at(k)!.length + at : at));
  const differences = [
    difference("read positions", positions, reads),
    difference("step ends", row.step_end_token_index, stepEnds),
  ];
  if (expected !== undefined) {
    const one = expected.length === 1;
    const found = one
      ? rows.map(({ ids }) => ids)
      : rows.flatMap(({ ids, reads: at }) => at.map((last) => ids.slice(0, last + 1)));
    differences.push(difference("rows", expected.length, found.length));
    for (const [k, ids] of found.entries()) {
      const open = read === "before" && reads.at(-1) === ids.length - 1;
      const wanted = one && !open ? expected[k] : expected[k]?.slice(0, ids.length);
      differences.push(difference(`ids of row ${k}`, wanted, ids));
    }
    differences.push(difference("tokens", row.num_tokens, expected[0]!.length));
  }
  return differences.find((found) => found !== undefined);
}

function difference(what: string, wanted: unknown, got: unknown): string | undefined {
  if (wanted === undefined || String(wanted) === String(got)) return undefined;
  return `${what}: expected ${wanted}, got ${got}`;
}

/** Largest difference of an item's scores from a row's; NaN where a score is missing. */
export function scoreError({ step_rewards, reward }: ExpectedRow, values: ArrayLike<number>): number {
  if (step_rewards === undefined) return Math.abs(values[values.length - 1]! - reward!);
  if (values.length !== step_rewards.length) return Number.NaN;
  return Math.max(...step_rewards.map((wanted, k) => Math.abs(values[k]! - wanted)));
}
