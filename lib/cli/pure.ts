import { join } from "node:path";
import type { Command } from "commander";
import { count } from "./options.ts";
import { interruptible } from "./signals.ts";

/** @internal Options of `minform pure`. */
export interface PureFlags {
  outDir: string;
  seed: number;
  steps: number;
  quiet?: boolean;
}

/** @internal Adds `minform pure`. */
export function register(program: Command): void {
  program
    .command("pure")
    .description(
      "the whole of PURE on an embedded task: base model, PRM in two stages, RL, report (docs/guides/train.md)",
    )
    .option("--out-dir <folder>", "the runs and report.html; a run in it goes on", join("out", "pure"))
    .option("--seed <n>", "seed of everything", count, 1)
    .option("--steps <n>", "steps of RL", count, 80)
    .option("--quiet", "no progress and no tables")
    .action((flags: PureFlags) =>
      interruptible(
        async (signal) => (await import("./pure-job.ts")).runPureJob(flags, signal),
        "the same command goes on from there",
      ),
    );
}
