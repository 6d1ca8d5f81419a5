#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { addAdvantages } from "./advantages.ts";
import { EXIT } from "./exit.ts";
import { addPure } from "./pure.ts";
import { Interrupted } from "./signals.ts";
import { packageVersion } from "./version.ts";

const program = new Command("minform")
  .description("Process-supervised RL primitives: min-form credit, advantages, losses.")
  .version(packageVersion())
  .showHelpAfterError("(--help shows the options)")
  .exitOverride();
addAdvantages(program);
addPure(program);

program.parseAsync().catch((error: unknown) => {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    return;
  }
  process.stderr.write(`minform: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof Interrupted ? error.exitCode : EXIT.failed;
});
