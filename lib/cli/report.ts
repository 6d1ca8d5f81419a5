import type { Command } from "commander";

/** @internal Options of `minform report`. */
export interface ReportFlags {
  out?: string;
  quiet?: boolean;
}

/** @internal Adds `minform report`. */
export function register(program: Command): void {
  program
    .command("report")
    .description(
      "an HTML report of a run; of several runs, or an experiment, side by side (docs/guides/reports.md)",
    )
    .argument("<folder...>", "folders of runs, or one of an experiment")
    .option("--out <file>", "the page; default: report.html in the folder, or here for several")
    .option("--quiet", "no table")
    .action(async (folders: string[], flags: ReportFlags) =>
      (await import("./report-job.ts")).runReport(folders, flags),
    );
}
