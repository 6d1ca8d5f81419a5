import { InputError } from "../errors.ts";
import { gradeFile } from "../verify/files/grade-file.ts";
import { createVerifier } from "../verify/index.ts";
import type { GradeFlags } from "./grade.ts";
import { graderSettings } from "./grader-options.ts";
import { countLines, RowProgress } from "./row-progress.ts";
import { interruptible } from "./signals.ts";

/** @internal Runs `minform grade`. */
export async function runGrade(flags: GradeFlags): Promise<void> {
  const { in: input, out: output, strict } = flags;
  const settings = graderSettings(flags);
  const progress = new RowProgress(process.stderr.isTTY ? await countLines(input) : undefined);
  const verifier = createVerifier(settings);
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
