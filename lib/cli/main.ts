#!/usr/bin/env node
import { runCommand } from "./command.ts";

runCommand(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
