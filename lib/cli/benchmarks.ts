import { type Command, InvalidArgumentError } from "commander";
import { addModelFlags, type ModelFlags, number, positive } from "./prm-options.ts";

/** @internal Options that the benchmarks share. */
export interface BenchmarkFlags extends ModelFlags {
  data: string[];
  threshold?: number;
  sweep?: boolean;
  limit?: number;
  out?: string;
  resume?: boolean;
  json?: boolean;
}

/** @internal Options of `minform prmbench`. */
export interface PrmBenchFlags extends BenchmarkFlags {
  redundancyThreshold?: number;
}

/** @internal Adds `minform processbench` and `minform prmbench`. */
export function register(program: Command): void {
  addBenchmarkFlags(program.command("processbench"))
    .description("ProcessBench: first wrong step, exact match, F1, from the benchmark's own files")
    .action(async (flags: BenchmarkFlags) => (await import("./processbench.ts")).runProcessBench(flags));
  addBenchmarkFlags(program.command("prmbench"))
    .description("PRMBench: right and wrong steps, F1 of both by class, from the benchmark's own file")
    .option("--redundancy-threshold <t>", "of the redundancy and circular classes; default: the same", number)
    .action(async (flags: PrmBenchFlags) => (await import("./prmbench.ts")).runPrmBench(flags));
}

function addBenchmarkFlags(command: Command): Command {
  return addModelFlags(command, "flag")
    .requiredOption("--data <files...>", "the benchmark's files (gsm8k.json; prmbench.jsonl)")
    .option("--threshold <t>", "a step below it is wrong; default: the convention's", number)
    .option("--sweep", "also report the threshold that is best on these rows")
    .option("--limit <n>", "first N rows of each file", positive)
    .option("--out <file>", "keep the scored rows there", checkFile)
    .option("--resume", "go on with the scored rows of a killed run")
    .option("--json", "results as JSON on standard output");
}

function checkFile(path: string): string {
  if (path === "-") throw new InvalidArgumentError("expected a file");
  return path;
}
