import { existsSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { writeWhole } from "../atomic-file.ts";
import { type ComparedRun, comparisonTable, renderComparison, renderRunReport } from "../report/index.ts";
import { EXPERIMENT_FILE, readRecord } from "../train/experiment/record.ts";
import type { ReportFlags } from "./report.ts";
import { textTable } from "./text-table.ts";

/** @internal Runs `minform report`. */
export async function runReport(folders: readonly string[], flags: ReportFlags): Promise<void> {
  const [first] = folders as [string];
  const isExperiment = folders.length === 1 && existsSync(join(first, EXPERIMENT_FILE));
  const out = flags.out ?? (folders.length === 1 ? join(first, "report.html") : "report.html");
  if (isExperiment) {
    const { name, runs, setup } = readRecord(first);
    await writeComparison(name, runs, out, { setup, quiet: flags.quiet });
  } else if (folders.length > 1)
    await writeComparison("Runs side by side", labelled(folders), out, { quiet: flags.quiet });
  else writeWhole(out, await renderRunReport(first));
  if (!flags.quiet) process.stdout.write(`report  ${relative(".", out)}\n`);
}

/** @internal Writes the comparing page, and the last numbers to standard output. */
export async function writeComparison(
  title: string,
  runs: readonly ComparedRun[],
  out: string,
  { setup = [], quiet = false }: { setup?: readonly ComparedRun[]; quiet?: boolean | undefined },
): Promise<void> {
  writeWhole(out, await renderComparison(title, runs, { setup }));
  if (!quiet) process.stdout.write(`${textTable(await comparisonTable(runs))}\n\n`);
}

// By the ends of their paths, as much of them as tells them apart.
function labelled(folders: readonly string[]): ComparedRun[] {
  const paths = folders.map((folder) => resolve(folder).split(sep));
  for (let parts = 1; ; parts++) {
    const labels = paths.map((path) => path.slice(-parts).join(sep));
    if (new Set(labels).size === folders.length || paths.every((path) => parts > path.length))
      return folders.map((folder, i) => ({ label: labels[i]!, folder }));
  }
}
