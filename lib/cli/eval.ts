import { type Command, InvalidArgumentError, Option } from "commander";
import { addGraderFlags, type GraderFlags } from "./grader-options.ts";
import { positive } from "./prm-options.ts";
import { interruptible } from "./signals.ts";

/** @internal Options of `minform eval`. */
export interface EvalFlags extends GraderFlags {
  in: string[];
  dataset?: string[];
  samples?: number;
  k?: number[];
  missing: "wrong" | "skip";
  out?: string;
  report?: string;
  quiet?: boolean;
}

/** @internal Adds `minform eval`. */
export function register(program: Command): void {
  const command = program
    .command("eval")
    .description("pass@1, pass@k, majority@k of generated solutions on benchmarks (docs/guides/eval.md)")
    .requiredOption("--in <[name=]file...>", "generations, JSONL; - for standard input")
    .option(
      "--dataset <[name=]source...>",
      "problems with answers: a path or hub id; or a benchmark's name, where the generations hold the references",
    );
  addGraderFlags(command)
    .option("--samples <n>", "samples per problem; default: as many as most problems have", positive)
    .option("--k <list>", "k of pass@k and majority@k, such as 1,4,16", numbers)
    .addOption(
      new Option("--missing <how>", "samples that are not there").choices(["wrong", "skip"]).default("wrong"),
    )
    .option("--out <file>", "the results as JSON")
    .option("--report <file>", "an HTML report with every sample, one self-contained file")
    .option("--quiet", "no tables")
    .action((flags: EvalFlags) =>
      interruptible(async (signal) => (await import("./eval-job.ts")).runEval(flags, signal)),
    );
}

function numbers(text: string): number[] {
  const list = text.split(",").map(positive);
  if (new Set(list).size !== list.length) throw new InvalidArgumentError("expected each number once");
  return list.sort((a, b) => a - b);
}
