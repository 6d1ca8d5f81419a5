import { basename, extname, join, relative } from "node:path";
import { writeWhole } from "../atomic-file.ts";
import { renderComparison } from "../report/index.ts";
import { readExperiment, runExperiment } from "../train/experiment/index.ts";
import { readRecord } from "../train/experiment/record.ts";
import { liveView } from "../train/live/index.ts";
import type { ExperimentFlags } from "./experiment.ts";
import { readConfigOf } from "./lookalike.ts";
import { writeComparison } from "./report-job.ts";

/** @internal Runs `minform experiment`. */
export async function runExperimentFile(
  file: string,
  { outDir, quiet = false }: ExperimentFlags,
  signal: AbortSignal,
): Promise<void> {
  const experiment = await readConfigOf("experiment", file, () => readExperiment(file));
  const folder = outDir ?? join("out", basename(file, extname(file)));
  const report = join(folder, "report.html");
  const view = liveView({ quiet });
  try {
    const runs = await runExperiment(experiment, {
      folder,
      signal,
      onProgress: ({ name, seed, done, total, phase, ...progress }) =>
        view.update({ ...progress, phase: `${done + 1}/${total} ${name} (${phase}), seed ${seed}` }),
      // A long experiment can be looked at before it ends.
      onRun: async (finished) => {
        const { setup } = readRecord(folder);
        writeWhole(report, await renderComparison(experiment.name, finished, { setup }));
      },
    });
    view.stop();
    await writeComparison(experiment.name, runs, report, { setup: readRecord(folder).setup, quiet });
    if (!quiet) process.stdout.write(`report  ${relative(".", report)}\n`);
  } finally {
    view.stop();
  }
}
