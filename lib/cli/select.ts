import { type Command, Option } from "commander";
import type { Aggregator } from "../prm/aggregate.ts";
import type { ScoreRange } from "../prm/range.ts";
import { type SelectionMethod, selectionMethods } from "../select.ts";
import { aggregateOption, positive } from "./prm-options.ts";

/** @internal Options of `minform select`. */
export interface SelectFlags {
  in: string;
  out: string;
  method: SelectionMethod;
  group?: string;
  answer?: string;
  aggregate?: Aggregator;
  range?: ScoreRange;
  probability?: boolean;
  n?: number;
  correct?: string;
}

/** @internal Adds `minform select`. */
export function register(program: Command): void {
  program
    .command("select")
    .description("one solution per problem from scored rows: best-of-N and votes")
    .requiredOption("--in <file|->", "rows that minform score wrote")
    .option("--out <file|->", "the chosen rows, with how they were chosen in `selection`", "-")
    .addOption(
      new Option("--method <name>", "how to choose").choices([...selectionMethods]).default("best-of-n"),
    )
    .option("--group <field>", "field that rows of one problem share; default: group, else question")
    .option("--answer <field>", "field with the final answer, for votes; default: prediction, else answer")
    .addOption(aggregateOption())
    .addOption(
      new Option("--range <range>", "what step_rewards are, where rows name no built-in convention").choices([
        "probability",
        "signed",
        "unbounded",
      ]),
    )
    .option("--probability", "turn step rewards into probabilities before they are aggregated")
    .option("--n <n>", "use the first N rows of each problem", positive)
    .option("--correct <field>", "field that says whether a row is right: report the accuracy")
    .action(async (flags: SelectFlags) => (await import("./select-job.ts")).runSelect(flags));
}
