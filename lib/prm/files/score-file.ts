import { ArgumentError, InputError, MinformError, NumericError } from "../../errors.ts";
import { aggregate, type Aggregator, assertAggregator } from "../aggregate.ts";
import type { PreparedItem } from "../prepare.ts";
import type { ItemScores, Prm } from "../prm.ts";
import { type StepScores, toProbability } from "../range.ts";
import { assertApart, inputName, openInput, parseRow, type TextLine, textLines } from "../../files/lines.ts";
import { ResumableOutput } from "./resume.ts";
import { rowToItem } from "./rows.ts";

/** A row that could not be scored. */
export interface BadRow {
  /** Line of the input, from 1. */
  readonly line: number;
  /** What is wrong with it. */
  readonly message: string;
}

/** How far {@link scoreFile} is. */
export interface ScoreFileProgress {
  /** Input lines whose rows are written. */
  readonly lines: number;
  /** Rows scored. */
  readonly rows: number;
  /** Tokens that went through the model in this run. */
  readonly tokens: number;
}

/** What to score and where to. */
export interface ScoreFileJob {
  /** JSONL file, or `-` for standard input. */
  readonly input: string;
  /** @internal Its lines, when they are read already or made. */
  readonly lines?: AsyncIterable<TextLine>;
  /** JSONL file, or `-` for standard output. */
  readonly output: string;
  /** Default: the convention's own. */
  readonly aggregate?: Aggregator;
  /** T of `soft-min`. */
  readonly temperature?: number;
  /** Aggregate probabilities instead of signed scores. */
  readonly probability?: boolean;
  /** Go on from where a killed run stood. Needs files, not `-`, on the output side. */
  readonly resume?: boolean;
  /** Part of what must be the same for a resumed run: how the model was loaded. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Tokens scored between two notes of how far the job is; default 4 batches. */
  readonly windowTokens?: number;
  /** Ends the job; what is done stays for `resume`. */
  readonly signal?: AbortSignal;
  /** Called after each batch. */
  readonly onProgress?: (progress: ScoreFileProgress) => void;
  /** Called for each row that could not be scored. */
  readonly onBadRow?: (row: BadRow) => void;
}

/** What {@link scoreFile} did. */
export interface ScoreFileResult {
  /** Rows written, those of an earlier run included. */
  readonly rows: number;
  /** Rows that could not be scored. */
  readonly bad: readonly BadRow[];
  /** Tokens that went through the model in this run. */
  readonly tokens: number;
  /** Input lines that an earlier run had dealt with. */
  readonly resumed: number;
}

interface Sink {
  append(text: string, rows: number, lines: number): void | Promise<void>;
  finish(): void;
  close(): void;
}

/**
 * Scores the rows of a JSONL file: each output row is its input row with `step_rewards`, `score`, `model`, `convention`
 * and `aggregate` added, in the order of the input. A bad row is reported and left out; the rest is scored.
 *
 * @throws {@link PrmError} `ERR_SCORE_RANGE` when the aggregator does not fit the PRM's scores; {@link InputError} for
 * files that cannot be read, written or resumed
 */
export async function scoreFile(prm: Prm, job: ScoreFileJob): Promise<ScoreFileResult> {
  const { input, output, signal, windowTokens = 4 * prm.batchTokens } = job;
  const how = job.aggregate ?? prm.convention.aggregate;
  assertAggregator(how, job.probability === true ? "probability" : prm.convention.range);
  assertApart(input, output);
  if (output === "-" && job.resume)
    throw new ArgumentError("ERR_ARGUMENT_VALUE", "resume: expected an output file, got standard output");
  const settings = JSON.stringify({
    ...job.settings,
    model: prm.model,
    convention: prm.convention,
    how,
    temperature: job.temperature,
    probability: job.probability === true,
    windowTokens,
  });
  const file = output === "-" ? undefined : new ResumableOutput(output, settings, job.resume === true);
  const sink: Sink = file ?? stdout();
  const bad: BadRow[] = file?.state.bad ?? [];
  const resumed = file?.state.lines ?? 0;
  for (const row of bad) job.onBadRow?.(row);
  const totals = { rows: file?.state.rows ?? 0, tokens: 0, lines: resumed };
  let window: { line: number; row: Record<string, unknown>; prepared: PreparedItem }[] = [];
  let held = 0;
  const report = (line: number, error: unknown): void => {
    if (!(error instanceof MinformError)) throw error;
    const row = { line, message: error.message };
    bad.push(row);
    job.onBadRow?.(row);
  };
  const flush = async (lines: number): Promise<void> => {
    const scored = await scoreWindow(prm, window, report, {
      ...(signal === undefined ? {} : { signal }),
      onProgress: ({ items, tokens }) =>
        job.onProgress?.({ ...totals, rows: totals.rows + items, tokens: totals.tokens + tokens }),
    });
    let text = "";
    for (const { row, scores } of scored)
      text += `${JSON.stringify(outputRow(prm, row, scores, job, how))}\n`;
    await sink.append(text, scored.length, lines);
    totals.rows += scored.length;
    totals.tokens += held;
    totals.lines = lines;
    window = [];
    held = 0;
    job.onProgress?.({ ...totals });
  };
  try {
    let last = 0;
    for await (const line of job.lines ?? textLines(openInput(input, signal), inputName(input))) {
      signal?.throwIfAborted();
      last = line.number;
      if (file?.skip(line) || line.text.trim() === "") continue;
      try {
        const row = parseRow(line);
        const prepared = prm.prepare(rowToItem(row, prm.convention));
        window.push({ line: line.number, row, prepared });
        held += prepared.rows.reduce((sum, { ids }) => sum + ids.length, 0);
      } catch (error) {
        report(line.number, error);
      }
      if (held >= windowTokens) await flush(line.number);
    }
    if (last > totals.lines || totals.lines === 0) await flush(last);
    sink.finish();
  } finally {
    sink.close();
  }
  bad.sort((a, b) => a.line - b.line);
  return { rows: totals.rows, bad, tokens: totals.tokens, resumed };
}

type Held = { line: number; row: Record<string, unknown>; prepared: PreparedItem };

// A row whose scores are not finite must not take the others with it.
async function scoreWindow(
  prm: Prm,
  window: readonly Held[],
  report: (line: number, error: unknown) => void,
  options: Parameters<Prm["scorePrepared"]>[1],
): Promise<{ row: Record<string, unknown>; scores: ItemScores }[]> {
  try {
    const scores = await prm.scorePrepared(
      window.map(({ prepared }) => prepared),
      options,
    );
    return window.map(({ row }, i) => ({ row, scores: scores[i]! }));
  } catch (error) {
    if (!(error instanceof NumericError)) throw error;
  }
  const out: { row: Record<string, unknown>; scores: ItemScores }[] = [];
  for (const { line, row, prepared } of window) {
    try {
      const [scores] = await prm.scorePrepared([prepared], options?.signal ? { signal: options.signal } : {});
      out.push({ row, scores: scores! });
    } catch (error) {
      if (!(error instanceof NumericError)) throw error;
      report(line, error);
    }
  }
  return out;
}

function outputRow(
  prm: Prm,
  row: Record<string, unknown>,
  scores: ItemScores,
  job: ScoreFileJob,
  how: Aggregator,
): Record<string, unknown> {
  const judged: StepScores = job.probability ? toProbability(scores) : scores;
  const score = aggregate(judged, how, job.temperature === undefined ? {} : { temperature: job.temperature });
  const number = (value: number): number | null => (Number.isNaN(value) ? null : value);
  return {
    ...row,
    step_rewards: Array.from(scores.values, number),
    score: number(score),
    model: prm.model,
    convention: prm.convention.name,
    aggregate: how,
    ...(job.probability && prm.convention.range !== "probability" ? { score_range: "probability" } : {}),
    ...(scores.unscored.length > 0 ? { unscored_steps: scores.unscored } : {}),
  };
}

function stdout(): Sink {
  return {
    append: (text) => (text === "" ? undefined : writeStdout(text)),
    finish: () => {},
    close: () => {},
  };
}

// A reader that went away shows as an event beside the callback, and would end the process unhandled.
function writeStdout(text: string): Promise<void> {
  const { stdout } = process;
  return new Promise((done, reject) => {
    const fail = (cause: Error): void =>
      reject(new InputError("ERR_INPUT", `standard output: ${cause.message}`, { cause }));
    stdout.once("error", fail);
    stdout.write(text, (error) => {
      if (error) return;
      stdout.off("error", fail);
      done();
    });
  });
}
