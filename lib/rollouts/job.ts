import { resolve } from "node:path";
import { realpathSync } from "node:fs";
import { ArgumentError } from "../errors.ts";
import { AtomicFile } from "../atomic-file.ts";
import { readBatches } from "./batch.ts";
import { SummaryCollector } from "./collector.ts";
import { type Example, ExampleCollector } from "./examples.ts";
import { type CreditSettings, creditSettings } from "./options.ts";
import { OrderedOutput } from "./output.ts";
import { outputLine } from "./output-row.ts";
import { creditBatch } from "./pipeline.ts";
import { RolloutReader } from "./reader.ts";
import { scanRollouts } from "./scan.ts";
import type { RolloutSummary } from "./summary.ts";

/** Input, output and settings of {@link runAdvantages}. */
export interface AdvantagesJob extends Partial<CreditSettings> {
  /** File of rollouts, one JSON object per line. */
  readonly input: string;
  /** Where the rows with their credit go; must not be the input. */
  readonly output: string;
  /** Where a report goes, and what writes it. */
  readonly report?: {
    /** Where it is written; must be none of the other files. */
    readonly path: string;
    /** Makes its text from the results. */
    readonly render: (results: AdvantagesResults) => string;
  };
  /** What a bad line does: `"fail"` (default) ends the job, `"skip"` leaves it out and counts it. */
  readonly onError?: "fail" | "skip";
  /** Name of the input in messages and in the report, default its path. */
  readonly name?: string;
  /** Cancels the job: nothing is written, and its reason is thrown. */
  readonly signal?: AbortSignal;
  /** Called as work goes on. */
  readonly onProgress?: (progress: JobProgress) => void;
}

/** How far a job is. */
export interface JobProgress {
  /** `"reading"`: checking the lines; `"computing"`: everything else. */
  readonly phase: "reading" | "computing";
  /** Bytes read, or rollouts computed. */
  readonly done: number;
  /** Rollouts to compute; while reading, what is not known yet. */
  readonly total: number | undefined;
}

/** What {@link runAdvantages} found. */
export interface AdvantagesResults {
  /** Name of the input. */
  readonly name: string;
  /** Settings in force, defaults filled in. */
  readonly settings: CreditSettings;
  /** What the file amounts to. */
  readonly summary: RolloutSummary;
  /** Pairs of a right and a wrong solution worth showing. */
  readonly examples: readonly Example[];
}

/**
 * The main job: scored solutions of a file -> credit (the chosen form and, beside it, sum-form) -> rewards combined
 * with whether the answer is right -> leave-one-out advantages -> PPO loss where log-probs are given -> summary.
 *
 * The input is read twice, group by group; memory is a few dozen bytes per rollout plus the largest group. Output and
 * report appear whole or not at all, with the rows in the order of the input.
 *
 * @throws {@link InputError} `ERR_INPUT` naming file and line; {@link ArgumentError} `ERR_ARGUMENT_VALUE`
 */
export async function runAdvantages(job: AdvantagesJob): Promise<AdvantagesResults> {
  const { input, output, report, onError = "fail", name = input, signal, onProgress } = job;
  const settings = creditSettings(job);
  assertDistinct(input, [output, ...(report ? [report.path] : [])]);
  const index = await scanRollouts(input, {
    onError,
    name,
    signal,
    onBytes: (done) => onProgress?.({ phase: "reading", done, total: undefined }),
  });
  const yielding = async () => {
    await new Promise((done) => setImmediate(done));
    signal?.throwIfAborted();
  };
  const rows = index.offsets.length;
  using reader = new RolloutReader(index, name);
  using rowsOut = new OrderedOutput(output, rows);
  using reportOut = report && new AtomicFile(report.path);
  const summary = new SummaryCollector();
  const examples = new ExampleCollector();
  let done = 0;
  for (const batch of readBatches(index, reader)) {
    const credited = creditBatch(batch, settings);
    summary.add(batch, credited);
    examples.add(batch, credited);
    for (const [i, row] of batch.indices.entries()) rowsOut.write(row, outputLine(batch, credited, i));
    done += batch.rollouts.length;
    onProgress?.({ phase: "computing", done, total: rows });
    await yielding();
  }
  reader.assertUnchanged();
  const results = { name, settings, summary: summary.summary(index), examples: examples.examples() };
  if (report && reportOut) {
    reportOut.write(Buffer.from(report.render(results)));
    reportOut.prepare();
  }
  await rowsOut.finish(yielding);
  rowsOut.commit();
  reportOut?.commit();
  return results;
}

function assertDistinct(input: string, outputs: readonly string[]): void {
  const all = [input, ...outputs].map(realPath);
  const twice = all.findIndex((path, i) => all.indexOf(path) !== i);
  if (twice < 0) return;
  throw new ArgumentError(
    "ERR_ARGUMENT_VALUE",
    `input, output and report: expected different files, got ${all[twice]} twice`,
  );
}

// Through links, as far as the file exists.
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
