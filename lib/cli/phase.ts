import { existsSync } from "node:fs";
import { basename, extname, join } from "node:path";
import type { Command } from "commander";
import { readLatest } from "../train/run/checkpoints.ts";
import { printable } from "./printable.ts";
import { interruptible } from "./signals.ts";

/** @internal Options of commands that run one phase of training. */
export interface PhaseFlags {
  set: readonly string[];
  outDir?: string;
  resume?: boolean;
  quiet?: boolean;
}

/** @internal Adds a command that runs a phase from a config file. */
export function addPhase(
  program: Command,
  name: string,
  description: string,
  run: (file: string, flags: PhaseFlags, signal: AbortSignal) => Promise<void>,
): void {
  program
    .command(name)
    .description(description)
    .argument("<file>", "the config, YAML")
    .option("--set <key=value...>", "settings over the file's, for example all.epochs=2", [])
    .option("--out-dir <folder>", "the run's folder; default: out/<name of the file>")
    .option("--resume", "go on from the last checkpoint in the folder")
    .option("--quiet", "no progress and no summary")
    .action((file: string, flags: PhaseFlags) =>
      interruptible((signal) => run(file, flags, signal), "rerun with --resume to go on"),
    );
}

/** @internal Where a run goes. */
export function folderOf(file: string, { outDir }: PhaseFlags): string {
  return outDir ?? join("out", basename(file, extname(file)));
}

/** @internal Says that a run which is to go on has nothing to go on from: the folder may be another than was meant. */
export function tellFreshStart(folder: string, { resume, quiet }: PhaseFlags): void {
  if (resume !== true || quiet === true || readLatest(folder) !== undefined) return;
  const missing = existsSync(join(folder, "config.json")) ? "checkpoint" : "run";
  process.stderr.write(`no ${missing} in ${printable(folder)}: starting from the first step\n`);
}
