import { existsSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import * as z from "zod";
import { InputError } from "../../errors.ts";
import { openInput, parseRow, type TextLine, textLines } from "../../files/lines.ts";

const metricsRow = z.object({
  step: z.int(),
  phase: z.string(),
  seconds: z.number(),
  // JSON has no NaN: null.
  metrics: z.record(z.string(), z.number().nullable()),
});

const numbers = z.array(z.number().nullable()).default([]);

const rolloutRow = z.object({
  step: z.int(),
  id: z.union([z.string(), z.number()]).default(""),
  prompt: z.string().default(""),
  answer: z.string().nullable().default(null),
  steps: z.array(z.string()).default([]),
  step_rewards: numbers,
  weights: numbers,
  advantages: numbers,
  verified: z.number().nullable().default(null),
  score: z.number().nullable().default(null),
  stopped: z.boolean().default(true),
  length: z.number().default(0),
});

/** @internal A line of metrics.jsonl. */
export type RunMetrics = z.output<typeof metricsRow>;
/** @internal A line of rollouts.jsonl. */
export type RunRollout = z.output<typeof rolloutRow>;

/** @internal What a run's folder holds. */
export interface RunData {
  /** Its config's name, or that of the folder. */
  readonly name: string;
  readonly folder: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, unknown>>;
  readonly metrics: readonly RunMetrics[];
  /** Of the steps that are shown, in their order. */
  readonly rollouts: readonly RunRollout[];
}

/** @internal Options of {@link readRun}. */
export interface ReadRunOptions {
  /** Steps whose rollouts are read, spread over the run. Default 0. */
  readonly rolloutSteps?: number;
}

/**
 * @internal Reads a run's folder, also while the run goes on: a last line that is not finished is left out.
 *
 * @throws {@link InputError} `ERR_INPUT` when there is no metrics.jsonl, or a line is malformed; names file and line
 */
export async function readRun(folder: string, { rolloutSteps = 0 }: ReadRunOptions = {}): Promise<RunData> {
  const path = join(folder, "metrics.jsonl");
  if (!existsSync(path))
    throw new InputError("ERR_INPUT", `${folder}: no run here: there is no metrics.jsonl`);
  const metrics: RunMetrics[] = [];
  for await (const row of rowsOf(path, metricsRow)) metrics.push(row);
  const config = readObject(join(folder, "config.json"));
  return {
    name: typeof config.name === "string" ? config.name : basename(resolve(folder)),
    folder,
    config,
    environment: readObject(join(folder, "environment.json")),
    metrics,
    rollouts: await readRollouts(join(folder, "rollouts.jsonl"), rolloutSteps),
  };
}

// Twice through the file, so that only what is shown is held.
async function readRollouts(path: string, most: number): Promise<RunRollout[]> {
  if (most === 0 || !existsSync(path)) return [];
  const steps = new Set<number>();
  for await (const { step } of rowsOf(path, z.object({ step: z.int() }))) steps.add(step);
  const chosen = new Set(
    spread(
      [...steps].sort((a, b) => a - b),
      most,
    ),
  );
  const rows: RunRollout[] = [];
  for await (const row of rowsOf(path, rolloutRow)) if (chosen.has(row.step)) rows.push(row);
  return rows;
}

// The first, the last, and others at even distances.
function spread(list: readonly number[], most: number): number[] {
  if (list.length <= most) return [...list];
  return Array.from({ length: most }, (_, i) => list[Math.round((i * (list.length - 1)) / (most - 1))]!);
}

async function* rowsOf<T>(path: string, schema: z.ZodType<T>): AsyncGenerator<T> {
  let waiting: TextLine | undefined;
  for await (const line of textLines(openInput(path), path)) {
    if (waiting !== undefined) yield parsed(waiting, path, schema);
    waiting = line.text.trim() === "" ? undefined : line;
  }
  if (waiting === undefined || isCut(waiting.text)) return;
  yield parsed(waiting, path, schema);
}

function isCut(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

function parsed<T>(line: TextLine, path: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(parseRow(line));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message;
    throw new InputError("ERR_INPUT", `${path}:${line.number}: ${why}`, { cause });
  }
}

function readObject(path: string): Record<string, unknown> {
  if (!existsSync(path)) return {};
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw new InputError("ERR_INPUT", `${path}: expected a JSON object: ${(cause as Error).message}`, {
      cause,
    });
  }
}
