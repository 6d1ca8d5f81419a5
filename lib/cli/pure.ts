import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import type { Command } from "commander";
import type { CreditSettings } from "../rollouts/index.ts";
import { count, creditOptions } from "./options.ts";
import { interruptible } from "./signals.ts";

interface Flags extends CreditSettings {
  outDir: string;
  prompts: number;
  seed: number;
  quiet?: boolean;
}

/** @internal `minform pure`. */
export function addPure(program: Command): void {
  const command = program
    .command("pure")
    .description(
      "The same job on an embedded default: rollouts of step-by-step arithmetic by hand-made policies.",
    )
    .option(
      "--out-dir <folder>",
      "where rollouts.jsonl, advantages.jsonl and report.html go",
      join("out", "pure"),
    )
    .option("--prompts <n>", "problems; 8 rollouts each", count, 64)
    .option("--seed <n>", "seed of problems and rollouts", count, 1)
    .option("--quiet", "no progress bar and no tables");
  for (const option of creditOptions()) command.addOption(option);
  command.action((flags: Flags) => interruptible((signal) => pure(flags, signal)));
}

async function pure(flags: Flags, signal: AbortSignal): Promise<void> {
  const { outDir, prompts, seed, quiet = false, ...settings } = flags;
  const [{ writeArithmeticRollouts }, { runJob }, { renderTables }] = await Promise.all([
    import("../train/arithmetic/write.ts"),
    import("./job.ts"),
    import("./table.ts"),
  ]);
  mkdirSync(outDir, { recursive: true });
  const [input, output, reportPath] = ["rollouts.jsonl", "advantages.jsonl", "report.html"].map((file) =>
    join(outDir, file),
  ) as [string, string, string];
  await writeArithmeticRollouts(input, { prompts, seed }, signal);
  const name = `embedded arithmetic, seed ${seed}`;
  const results = await runJob({ ...settings, input, name, output, reportPath, quiet, signal });
  if (quiet) return;
  process.stdout.write(`${renderTables(results)}\n`);
  for (const [label, path] of [
    ["rollouts", input],
    ["rows", output],
    ["report", reportPath],
  ] as const) {
    process.stdout.write(`${label.padEnd(10)}${relative(".", path)}\n`);
  }
}
