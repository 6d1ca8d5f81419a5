#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { addAdvantages } from "./advantages.ts";
import { register as addDoctor } from "./doctor.ts";
import { EXIT } from "./exit.ts";
import { register as addProcessBench } from "./processbench.ts";
import { addPure } from "./pure.ts";
import { register as addScore } from "./score.ts";
import { register as addSelect } from "./select.ts";
import { Interrupted } from "./signals.ts";
import { packageVersion } from "./version.ts";

const program = new Command("minform")
  .description("Process-supervised RL primitives: min-form credit, advantages, losses.")
  .version(packageVersion())
  .showHelpAfterError("(--help shows the options)")
  .exitOverride();
addAdvantages(program);
addPure(program);
addScore(program);
addSelect(program);
addProcessBench(program);
addDoctor(program);

program.parseAsync().catch((error: unknown) => {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    return;
  }
  process.stderr.write(`minform: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof Interrupted ? error.exitCode : EXIT.failed;
});
