import type { Command } from "commander";
import { addGraderFlags, type GraderFlags } from "./grader-options.ts";

/** @internal Options of `minform grade`. */
export interface GradeFlags extends GraderFlags {
  in: string;
  out: string;
  strict?: boolean;
}

/** @internal Adds `minform grade`. */
export function register(program: Command): void {
  const command = program
    .command("grade")
    .description("whether answers equal their references, row by row")
    .requiredOption("--in <file|->", "rows: prediction or response, and reference")
    .requiredOption("--out <file|->", "the rows with status and equal, and the answer of a response");
  addGraderFlags(command)
    .option("--strict", "exit with 1 when a row could not be graded")
    .action(async (flags: GradeFlags) => (await import("./grade-job.ts")).runGrade(flags));
}
