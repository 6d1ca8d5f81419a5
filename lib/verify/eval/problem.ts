import { InputError } from "../../errors.ts";
import { absent, kind } from "../../files/row-check.ts";
import type { Benchmark, GoldRule } from "./benchmarks.ts";
import type { Row } from "./rows.ts";
import { extractAnswer } from "../extract/extract.ts";

/** A problem with its reference answer. */
export interface EvalProblem {
  /** The row's `id` or `unique_id`; without one its index. Unique in a dataset. */
  readonly id: string;
  /** The row's `idx`; without one its place in the file, from 0. */
  readonly index: number;
  /** The text of the problem; empty where samples bring their references but no question. */
  readonly question: string;
  /** The answer that counts as right. */
  readonly reference: string;
  /** What accuracy is split by: of `subject`, `subfield`, `type` and `level` those that the row has. */
  readonly types: Readonly<Record<string, string>>;
}

/** What a problem with several answers has as its reference: all of them as a list, or the first, as Qwen's evaluation. */
export type GoldElements = "all" | "first";

const QUESTION = ["question", "problem", "input"];
const ID = ["id", "unique_id"];
const TYPES = ["subject", "subfield", "type", "level"];

/**
 * @internal A row as a problem. Keys are found whatever their case.
 *
 * @param where - file and row, for messages
 * @throws {@link InputError} `ERR_INPUT` naming the place and the keys that were expected
 */
export function readProblem(
  raw: Row,
  index: number,
  { gold }: Pick<Benchmark, "gold">,
  elements: GoldElements,
  where: string,
): EvalProblem {
  const row = Object.fromEntries(Object.entries(raw).map(([key, value]) => [key.toLowerCase(), value]));
  const fail = (expected: string, got: string): never => {
    throw new InputError("ERR_INPUT", `${where}: expected ${expected}, got ${got}`);
  };
  const text = (keys: readonly string[], what: string): string => {
    const key = keys.find((name) => !absent(row[name]));
    if (key === undefined) return fail(`${what} in ${keys.join(" or ")}`, keysOf(raw));
    const value = scalar(row[key])?.trim();
    return value === undefined || value === "" ? fail(`${what} in ${key}`, kind(row[key])) : value;
  };
  const question = text(QUESTION, "a question");
  const rule = gold.find(({ key }) => !absent(row[key]));
  const reference =
    rule === undefined
      ? fail(`an answer in ${gold.map(({ key }) => key).join(" or ")}`, keysOf(raw))
      : (referenceOf(row[rule.key], rule, elements) ??
        fail(EXPECTED[rule.kind](rule.key), kind(row[rule.key])));
  const place = !absent(row.idx) ? Number(scalar(row.idx) ?? Number.NaN) : index;
  if (!Number.isSafeInteger(place) || place < 0) fail("an integer >= 0 in idx", kind(row.idx));
  const id = ID.find((name) => !absent(row[name]));
  return {
    id: id === undefined ? String(place) : text([id], "a name"),
    index: place,
    question,
    reference,
    types: readTypes(row),
  };
}

const EXPECTED: Readonly<Record<GoldRule["kind"], (key: string) => string>> = {
  column: (key) => `an answer in ${key}`,
  boxed: (key) => `a complete \\boxed{} in ${key}`,
  list: (key) => `a list of answers in ${key}`,
};

function referenceOf(value: unknown, rule: GoldRule, elements: GoldElements): string | undefined {
  let found: string | undefined;
  if (rule.kind === "column") found = scalar(value);
  else if (rule.kind === "boxed") found = typeof value === "string" ? extractAnswer(value) : undefined;
  else if (Array.isArray(value)) {
    const answers = value.map((item) =>
      scalar(item)
        ?.trim()
        .replace(/^\$+|\$+$/g, "")
        .trim(),
    );
    if (answers.every((item) => item !== undefined && item !== ""))
      found = elements === "first" ? answers[0] : answers.join(", ");
  }
  return found?.trim() || undefined;
}

/** @internal What accuracy is split by. */
export function readTypes(row: Row): Record<string, string> {
  return Object.fromEntries(
    TYPES.flatMap((key) => {
      const value = scalar(row[key]);
      return value === undefined || value === "" ? [] : [[key, value]];
    }),
  );
}

/** A text, or a finite number as its decimal (27.0 is 27). */
function scalar(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value)))
    return String(value);
  return undefined;
}

function keysOf(row: Row): string {
  return Object.keys(row).join(", ") || "no keys";
}
