import type { Command } from "commander";
import type { Aggregator } from "../prm/aggregate.ts";
import { addModelFlags, aggregateOption, type ModelFlags, number } from "./prm-options.ts";

/** @internal Options of `minform score`. */
export interface ScoreFlags extends ModelFlags {
  in: string;
  out: string;
  aggregate?: Aggregator;
  temperature?: number;
  probability?: boolean;
  resume?: boolean;
  strict?: boolean;
}

/** @internal Adds `minform score`. */
export function register(program: Command): void {
  addModelFlags(program.command("score"), "error")
    .description("step rewards of the solutions in a JSONL file, from a PRM checkpoint")
    .addOption(aggregateOption())
    .option("--temperature <t>", "T of soft-min", number)
    .option("--probability", "aggregate signed scores as probabilities, (r + 1) / 2")
    .requiredOption(
      "--in <file|->",
      "rows: question with steps or response, prompt_ids with response_ids, or conversation",
    )
    .requiredOption("--out <file|->", "the rows with step_rewards, score, model, convention, aggregate")
    .option("--resume", "go on from where a killed run stood")
    .option("--strict", "exit with 1 when a row could not be scored")
    .action(async (flags: ScoreFlags) => (await import("./score-job.ts")).runScore(flags));
}
