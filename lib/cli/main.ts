#!/usr/bin/env node
import { Command } from "commander";
import { MinformError } from "../errors.ts";
import { register as doctor } from "./doctor.ts";
import { register as processbench } from "./processbench.ts";
import { register as score } from "./score.ts";
import { register as select } from "./select.ts";

const program = new Command("minform").showHelpAfterError();
for (const register of [score, select, processbench, doctor]) register(program);

program.parseAsync().catch((error: unknown) => {
  const known = error instanceof MinformError;
  process.stderr.write(`minform: ${known ? `${error.message} (${error.code})` : String(error)}\n`);
  process.exitCode = error instanceof Error && error.message === "interrupted" ? 130 : 1;
});
