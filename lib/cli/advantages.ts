import { type Command, Option } from "commander";
import type { CreditSettings } from "../rollouts/index.ts";
import { creditOptions } from "./options.ts";
import { interruptible } from "./signals.ts";
import { outputPath, spoolInput, type Spooled } from "./streams.ts";

interface Flags extends CreditSettings {
  in: string;
  out: string;
  report?: string;
  onError: "fail" | "skip";
  quiet?: boolean;
}

/** @internal `minform advantages`. */
export function addAdvantages(program: Command): void {
  const command = program
    .command("advantages")
    .description(
      "Credit, advantages, PPO loss and metrics of a file of scored rollouts (docs/guides/rollouts.md).",
    )
    .requiredOption("--in <file>", 'rollouts, a JSON object per line; "-" for standard input')
    .requiredOption("--out <file>", 'the rows with their credit and advantages; "-" for standard output')
    .option("--report <file>", "an HTML report, one self-contained file")
    .addOption(
      new Option("--on-error <what>", "what a bad line does").choices(["fail", "skip"]).default("fail"),
    )
    .option("--quiet", "no progress bar and no tables");
  for (const option of creditOptions()) command.addOption(option);
  command.action((flags: Flags) => interruptible((signal) => advantages(flags, signal)));
}

// Apart from its caller: the compiler leaves paths as they are in a function that holds a `using` declaration.
function loadJob() {
  return Promise.all([import("./job.ts"), import("./table.ts")]);
}

async function advantages(flags: Flags, signal: AbortSignal): Promise<void> {
  const { in: input, out, report: reportPath, quiet = false, onError, ...settings } = flags;
  const [{ runJob }, { renderTables }] = await loadJob();
  using source: Spooled = await spoolInput(input, signal);
  using target = outputPath(out);
  const results = await runJob({
    ...settings,
    input: source.path,
    name: source.name,
    output: target.path,
    reportPath,
    onError,
    quiet,
    signal,
  });
  await target.deliver();
  if (quiet) return;
  // Standard output is the rows' when they go there.
  const terminal = out === "-" ? process.stderr : process.stdout;
  terminal.write(`${renderTables(results)}\n`);
  if (out !== "-") terminal.write(`rows    ${out}\n`);
  if (reportPath !== undefined) terminal.write(`report  ${reportPath}\n`);
}
