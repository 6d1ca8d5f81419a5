import { AtomicFile } from "../../atomic-file.ts";
import { InputError } from "../../errors.ts";
import { assertApart, inputName, openInput, parseRow, textLines } from "../../files/lines.ts";
import type { Verifier } from "../pool/verifier.ts";
import type { Pair } from "../presets/types.ts";
import type { VerdictStatus } from "../types.ts";
import { rowToPair } from "./rows.ts";

/** A row that could not be graded. */
export interface UngradedRow {
  /** Line of the input, from 1. */
  readonly line: number;
  /** What is wrong with it. */
  readonly message: string;
}

/** What to grade and where to. */
export interface GradeFileJob {
  /** JSONL file with `prediction` or `response`, and `reference`; `-` for standard input. */
  readonly input: string;
  /** JSONL file, or `-` for standard output. */
  readonly output: string;
  /** Ends the job; nothing is written then. */
  readonly signal?: AbortSignal;
  /** Called with the number of rows graded so far. */
  readonly onProgress?: (rows: number) => void;
  /** Called for each row that could not be graded. */
  readonly onBadRow?: (row: UngradedRow) => void;
}

/** What {@link gradeFile} did. */
export interface GradeFileResult {
  /** Rows written. */
  readonly rows: number;
  /** Rows by status. */
  readonly statuses: Readonly<Record<VerdictStatus, number>>;
  /** Rows that could not be graded. */
  readonly bad: readonly UngradedRow[];
}

/** Rows that are held at once. */
const WINDOW = 2048;

/**
 * Grades the rows of a JSONL file: each output row is its input row with `status` and `equal`, and with the extracted
 * `answer` where it was a response, in the order of the input. A bad row is reported and left out. The output appears
 * whole or not at all, except on standard output.
 *
 * @param verifier - from {@link createVerifier}
 * @throws {@link InputError} `ERR_INPUT` for files that cannot be read or written
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE` when input and output are one file
 */
export async function gradeFile(verifier: Verifier, job: GradeFileJob): Promise<GradeFileResult> {
  const { input, output, signal } = job;
  assertApart(input, output);
  using file = output === "-" ? undefined : new AtomicFile(output);
  const bad: UngradedRow[] = [];
  const statuses = { equal: 0, different: 0, noAnswer: 0, unparsed: 0, timeout: 0, badReference: 0 };
  let rows = 0;
  let window: { row: Record<string, unknown>; pair: Pair }[] = [];
  const flush = async (): Promise<void> => {
    const before = rows;
    const verdicts = await verifier.verify(
      window.map(({ pair }) => pair),
      {
        ...(signal === undefined ? {} : { signal }),
        onProgress: ({ done }) => job.onProgress?.(before + done),
      },
    );
    const text = verdicts.map(({ status, answer }, i) => {
      statuses[status]++;
      const extracted = "response" in window[i]!.pair ? { answer: answer ?? null } : {};
      return `${JSON.stringify({ ...window[i]!.row, ...extracted, status, equal: status === "equal" })}\n`;
    });
    rows += window.length;
    window = [];
    if (file !== undefined) file.write(Buffer.from(text.join("")));
    else if (!process.stdout.write(text.join("")))
      await new Promise((resume) => process.stdout.once("drain", resume));
  };
  for await (const line of textLines(openInput(input), inputName(input))) {
    signal?.throwIfAborted();
    if (line.text.trim() === "") continue;
    try {
      const row = parseRow(line);
      window.push({ row, pair: rowToPair(row) });
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const found = { line: line.number, message: error.message };
      bad.push(found);
      job.onBadRow?.(found);
    }
    if (window.length === WINDOW) await flush();
  }
  await flush();
  file?.prepare();
  file?.commit();
  return { rows, statuses, bad };
}
