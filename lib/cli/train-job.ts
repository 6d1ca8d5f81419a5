import { join, relative } from "node:path";
import { writeWhole } from "../atomic-file.ts";
import { readTrainConfig } from "../train/config/index.ts";
import { liveView } from "../train/live/index.ts";
import { trainRl } from "../train/rl/index.ts";
import { readConfigOf } from "./lookalike.ts";
import { folderOf, type PhaseFlags, tellFreshStart } from "./phase.ts";
import { changeTable } from "./pure-tables.ts";

/** @internal Runs `minform train`. */
export async function runTrain(file: string, flags: PhaseFlags, signal: AbortSignal): Promise<void> {
  const config = await readConfigOf("train", file, () => readTrainConfig(file, { set: flags.set }));
  const folder = folderOf(file, flags);
  tellFreshStart(folder, flags);
  const view = liveView({ quiet: flags.quiet === true });
  try {
    const { model, step, ended, before, after } = await trainRl(config, {
      folder,
      resume: flags.resume === true,
      signal,
      onProgress: view.update.bind(view),
      hooks: { onWarning: view.note.bind(view) },
    });
    view.stop();
    // The charts take long to load, and are not needed before.
    const { renderRunReport } = await import("../report/index.ts");
    const report = join(folder, "report.html");
    writeWhole(report, await renderRunReport(folder));
    if (ended === "interrupted") signal.throwIfAborted();
    if (flags.quiet) return;
    if (Object.keys(after).length > 0) process.stdout.write(`${changeTable(before, after)}\n\n`);
    const why = ended === "guard" ? ", ended by the guard" : "";
    process.stdout.write(
      `${step} steps${why}\nreport  ${relative(".", report)}\npolicy  ${relative(".", model)}\n`,
    );
  } finally {
    view.stop();
  }
}
