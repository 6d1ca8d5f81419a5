import { Command, CommanderError } from "commander";
import { addAdvantages } from "./advantages.ts";
import { register as addBenchmarks } from "./benchmarks.ts";
import { register as addDoctor } from "./doctor.ts";
import { register as addEval } from "./eval.ts";
import { register as addExperiment } from "./experiment.ts";
import { register as addGrade } from "./grade.ts";
import { register as addPure } from "./pure.ts";
import { register as addReport } from "./report.ts";
import { register as addScore } from "./score.ts";
import { register as addSelect } from "./select.ts";
import { register as addSft } from "./sft.ts";
import { Interrupted } from "./signals.ts";
import { register as addTrain } from "./train.ts";
import { register as addTrainPrm } from "./train-prm.ts";
import { printableLines } from "./printable.ts";
import { packageVersion } from "./version.ts";

const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** @internal Runs `minform` with arguments; returns its exit code (128 + n when signal n ended it). */
export async function runCommand(args: readonly string[]): Promise<number> {
  const program = new Command("minform")
    .description("Process-supervised RL: PRM scoring, min-form credit, advantages, losses.")
    .version(packageVersion())
    .showHelpAfterError("(--help shows the options)")
    .exitOverride();
  const commands = [
    addAdvantages,
    addPure,
    addScore,
    addSelect,
    addBenchmarks,
    addGrade,
    addEval,
    addSft,
    addTrainPrm,
    addTrain,
    addReport,
    addExperiment,
    addDoctor,
  ];
  for (const add of commands) add(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return EXIT.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`minform: ${printableLines(message)}\n`);
    return error instanceof Interrupted ? error.exitCode : EXIT.failed;
  }
}
