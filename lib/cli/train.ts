import type { Command } from "commander";
import { addPhase } from "./phase.ts";

/** @internal Adds `minform train`. */
export function register(program: Command): void {
  addPhase(
    program,
    "train",
    "RL with process and verifiable rewards from a config (docs/guides/rl.md)",
    async (file, flags, signal) => (await import("./train-job.ts")).runTrain(file, flags, signal),
  );
}
