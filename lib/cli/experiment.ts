import type { Command } from "commander";
import { interruptible } from "./signals.ts";

/** @internal Options of `minform experiment`. */
export interface ExperimentFlags {
  outDir?: string;
  quiet?: boolean;
}

/** @internal Adds `minform experiment`. */
export function register(program: Command): void {
  program
    .command("experiment")
    .description(
      "runs over seeds and settings with one comparing report; resumable (docs/guides/experiments.md)",
    )
    .argument("<file>", "the experiment, YAML")
    .option("--out-dir <folder>", "its runs and report.html; default: out/<name of the file>")
    .option("--quiet", "no progress and no table")
    .action((file: string, flags: ExperimentFlags) =>
      interruptible(
        async (signal) => (await import("./experiment-job.ts")).runExperimentFile(file, flags, signal),
        "the same command goes on from there",
      ),
    );
}
