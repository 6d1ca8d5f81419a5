import { type Command, Option } from "commander";
import type { ExtractOptions } from "../verify/extract/extract.ts";
import { graderNames, type GraderName } from "../verify/presets/names.ts";
import { positive } from "./prm-options.ts";

/** @internal Options of `minform grade`. */
export interface GradeFlags {
  in: string;
  out: string;
  grader: GraderName;
  fallback: NonNullable<ExtractOptions["fallback"]>;
  workers?: number;
  timeLimit?: number;
  strict?: boolean;
}

/** @internal Adds `minform grade`. */
export function register(program: Command): void {
  program
    .command("grade")
    .description("whether answers equal their references, row by row")
    .requiredOption("--in <file|->", "rows: prediction or response, and reference")
    .requiredOption("--out <file|->", "the rows with status and equal, and the answer of a response")
    .addOption(
      new Option("--grader <name>", "whose rules decide").choices([...graderNames]).default("default"),
    )
    .addOption(
      new Option("--fallback <where>", "where to look for an answer without a box")
        .choices(["none", "phrases", "lastNumber"])
        .default("none"),
    )
    .option("--workers <n>", "threads for what takes longer than microseconds", positive)
    .option("--time-limit <ms>", "milliseconds that one pair may take; default 1000", positive)
    .option("--strict", "exit with 1 when a row could not be graded")
    .action(async (flags: GradeFlags) => (await import("./grade-job.ts")).runGrade(flags));
}
