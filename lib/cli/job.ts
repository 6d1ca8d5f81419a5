import { statSync } from "node:fs";
import { type AdvantagesJob, type AdvantagesResults, runAdvantages } from "../rollouts/index.ts";
import { progressView } from "./progress.ts";
import { printable } from "./printable.ts";

const SHOWN_BAD_LINES = 10;

/** @internal What both commands ask for. */
export interface CommandJob extends Omit<AdvantagesJob, "report" | "onProgress"> {
  readonly reportPath?: string | undefined;
  readonly quiet: boolean;
}

/** @internal Runs the job with a progress bar, and lists the bad lines on stderr. */
export async function runJob({ reportPath, quiet, ...job }: CommandJob): Promise<AdvantagesResults> {
  const view = progressView(statSync(job.input, { throwIfNoEntry: false })?.size ?? 0, quiet);
  try {
    // The charts take most of the time to load, so only who wants a report waits for them.
    const report = reportPath !== undefined && {
      report: { path: reportPath, render: (await import("../report/index.ts")).renderReport },
    };
    const results = await runAdvantages({
      ...job,
      onProgress: view.update,
      ...report,
    });
    view.stop();
    listBadLines(results);
    return results;
  } finally {
    view.stop();
  }
}

function listBadLines({ name, summary: { badLines, badLineCount } }: AdvantagesResults): void {
  if (badLineCount === 0) return;
  for (const { line, reason } of badLines.slice(0, SHOWN_BAD_LINES)) {
    process.stderr.write(`${name}:${line}: ${printable(reason)}\n`);
  }
  const more = badLineCount - SHOWN_BAD_LINES;
  process.stderr.write(
    `${badLineCount} bad ${badLineCount === 1 ? "line" : "lines"} skipped${more > 0 ? `, ${more} of them not listed` : ""}\n`,
  );
}
