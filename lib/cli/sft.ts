import type { Command } from "commander";
import { addPhase } from "./phase.ts";

/** @internal Adds `minform sft`. */
export function register(program: Command): void {
  addPhase(
    program,
    "sft",
    "supervised fine-tuning of a checkpoint on prompts and completions (docs/guides/train.md)",
    async (file, flags, signal) => (await import("./phase-job.ts")).runSft(file, flags, signal),
  );
}
