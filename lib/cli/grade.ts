import { type Command, Option } from "commander";
import { InputError } from "../errors.ts";
import { gradeFile } from "../verify/files/grade-file.ts";
import { createVerifier, type ExtractOptions, type GraderName } from "../verify/index.ts";
import { graderNames } from "../verify/presets/index.ts";
import { positive } from "./prm-options.ts";
import { countLines, RowProgress } from "./row-progress.ts";
import { interruptible } from "./signals.ts";

interface Flags {
  in: string;
  out: string;
  grader: GraderName;
  fallback: NonNullable<ExtractOptions["fallback"]>;
  workers?: number;
  timeLimit?: number;
  strict?: boolean;
}

/** @internal Adds `minform grade`. */
export function register(program: Command): void {
  program
    .command("grade")
    .description("whether answers equal their references, row by row")
    .requiredOption("--in <file|->", "rows: prediction or response, and reference")
    .requiredOption("--out <file|->", "the rows with status and equal, and the answer of a response")
    .addOption(
      new Option("--grader <name>", "whose rules decide").choices([...graderNames]).default("default"),
    )
    .addOption(
      new Option("--fallback <where>", "where to look for an answer without a box")
        .choices(["none", "phrases", "lastNumber"])
        .default("none"),
    )
    .option("--workers <n>", "threads for what takes longer than microseconds", positive)
    .option("--time-limit <ms>", "milliseconds that one pair may take; default 1000", positive)
    .option("--strict", "exit with 1 when a row could not be graded")
    .action(run);
}

async function run({ in: input, out: output, strict, ...options }: Flags): Promise<void> {
  const progress = new RowProgress(process.stderr.isTTY ? await countLines(input) : undefined);
  const verifier = createVerifier(options);
  try {
    const { rows, statuses, bad } = await interruptible((signal) =>
      gradeFile(verifier, {
        input,
        output,
        signal,
        onProgress: (done) => progress.update(done, 0),
        onBadRow: ({ line, message }) => progress.note(`${input}:${line}: ${message}`),
      }),
    );
    progress.stop();
    const counts = Object.entries(statuses).filter(([, count]) => count > 0);
    const list = counts.map(([status, count]) => `${count} ${status}`).join(", ");
    process.stderr.write(`${rows} rows graded${list === "" ? "" : `: ${list}`}; ${bad.length} bad\n`);
    if (strict && bad.length > 0)
      throw new InputError("ERR_INPUT", `${input}: ${bad.length} rows could not be graded (--strict)`);
  } finally {
    progress.stop();
    await verifier.close();
  }
}
