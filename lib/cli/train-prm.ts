import type { Command } from "commander";
import { addPhase } from "./phase.ts";

/** @internal Adds `minform train-prm`. */
export function register(program: Command): void {
  addPhase(
    program,
    "train-prm",
    "a process reward model in two stages, from solutions with labelled steps (docs/guides/prm-training.md)",
    async (file, flags, signal) => (await import("./phase-job.ts")).runTrainPrm(file, flags, signal),
  );
}
