import { InputError } from "../../errors.ts";
import { at, firstOf, type PlacedRow, readPlacedRows, textOf } from "./lines.ts";
import { prm800kRows } from "./prm800k.ts";

/** A solution with labelled steps. */
export interface StepwiseRow {
  /** The question. */
  readonly prompt: string;
  /** Its steps. */
  readonly completions: readonly string[];
  /** Whether each is right; `null`: not known or after the first wrong one, and left out of training and measures. */
  readonly labels: readonly (boolean | null)[];
}

const PROMPTS = ["prompt", "problem", "question"];

/**
 * Reads solutions with labelled steps, in any of these forms, row by row:
 *
 * - TRL: `{ prompt, completions, labels }`, labels `true`, `false`, 1, 0, or `null` and -100 for none;
 * - PRM800K as published: a row per rated branch, neutral steps taken as right;
 * - ProcessBench and its like: `{ problem, steps, label }` or `first_error`, the 0-based first wrong step, -1 for none.
 *
 * Labels after the first wrong step become `null`: whether a step that builds on an error is right has no clear meaning,
 * and a PRM that must call all of them wrong learns less (docs/guides/prm-training.md).
 *
 * @throws {@link InputError} `ERR_INPUT` naming file and line of a row that is none of these
 */
export async function readStepwiseRows(path: string): Promise<StepwiseRow[]> {
  const rows = (await readPlacedRows(path)).flatMap((placed) => at(placed.where, () => readRow(placed)));
  if (rows.length === 0) throw new InputError("ERR_INPUT", `${path}: has no labelled step`);
  return rows;
}

function readRow({ row }: PlacedRow): StepwiseRow[] {
  if (Array.isArray(row.completions)) return [trlRow(row, row.completions)];
  if (row.label !== null && typeof row.label === "object") return prm800kRows(row).map(cutLabels);
  if (Array.isArray(row.steps)) return [benchRow(row, row.steps)];
  throw new InputError(
    "ERR_INPUT",
    "expected { prompt, completions, labels }, a row of PRM800K, or { problem, steps, label }",
  );
}

function trlRow(row: PlacedRow["row"], completions: readonly unknown[]): StepwiseRow {
  const { labels } = row;
  const steps = checkSteps(completions, "completions");
  if (!Array.isArray(labels) || labels.length !== steps.length) {
    const got = Array.isArray(labels) ? labels.length : "none";
    throw new InputError("ERR_INPUT", `expected ${steps.length} labels, one per completion, got ${got}`);
  }
  const prompt = textOf(firstOf(row, PROMPTS), PROMPTS);
  return cutLabels({ prompt, completions: steps, labels: labels.map(readLabel) });
}

function benchRow(row: PlacedRow["row"], given: readonly unknown[]): StepwiseRow {
  const steps = checkSteps(given, "steps");
  const first = firstOf(row, ["label", "first_error"]);
  if (!Number.isInteger(first) || (first as number) < -1 || (first as number) >= steps.length) {
    throw new InputError(
      "ERR_INPUT",
      `expected the first wrong step at label or first_error, -1 to ${steps.length - 1}, got ${JSON.stringify(first)}`,
    );
  }
  const prompt = textOf(firstOf(row, PROMPTS), PROMPTS);
  return cutLabels({ prompt, completions: steps, labels: steps.map((_, i) => i !== first) });
}

function cutLabels(row: StepwiseRow): StepwiseRow {
  const first = row.labels.indexOf(false);
  if (first < 0) return row;
  return { ...row, labels: row.labels.map((label, i) => (i > first ? null : label)) };
}

function checkSteps(steps: readonly unknown[], name: string): string[] {
  if (steps.length === 0) throw new InputError("ERR_INPUT", `${name}: expected at least one step`);
  return steps.map((step, i) => textOf(step, [`${name}[${i}]`]));
}

function readLabel(label: unknown, i: number): boolean | null {
  if (typeof label === "boolean") return label;
  if (label === null || label === -100) return null;
  if (label === 1 || label === 0) return label === 1;
  throw new InputError(
    "ERR_INPUT",
    `labels[${i}]: expected true, false, 1, 0, null or -100, got ${JSON.stringify(label)}`,
  );
}
