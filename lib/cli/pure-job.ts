import { join, relative } from "node:path";
import { writeWhole } from "../atomic-file.ts";
import { renderRunReport } from "../report/index.ts";
import { liveView } from "../train/live/index.ts";
import { PRM_GATE, type PurePart, runPure } from "../train/pure/index.ts";
import type { PureFlags } from "./pure.ts";
import { changeTable, prmTable } from "./pure-tables.ts";

const TITLES: Record<PurePart["name"], string> = {
  sft: "base model",
  prm: "process reward model",
  rl: "PURE-PRM+VR",
};

/** @internal Runs `minform pure`. */
export async function runPureJob(
  { outDir, quiet = false, ...flags }: PureFlags,
  signal: AbortSignal,
): Promise<void> {
  const view = liveView({ quiet });
  try {
    const result = await runPure({
      ...flags,
      folder: outDir,
      signal,
      onProgress: view.update.bind(view),
      onPart: ({ name, seconds, result: gave }) => {
        view.stop();
        if (!quiet) view.note(`${TITLES[name]}: ${seconds.toFixed(0)} s, ${gave}`);
      },
    });
    const report = join(outDir, "report.html");
    writeWhole(report, await renderRunReport(result.folders.run));
    if (quiet) return;
    const f1 = result.stages.at(-1)?.quality?.f1 ?? 0;
    const gate =
      f1 >= PRM_GATE
        ? `F1 ${f1.toFixed(3)} >= ${PRM_GATE}: good enough to train on`
        : `F1 ${f1.toFixed(3)} < ${PRM_GATE}: too often wrong, expect RL to gain less; try another seed`;
    process.stdout.write(
      `${prmTable(result.stages)}\n\n${gate}\n\n${changeTable(result.before, result.after)}\n\n`,
    );
    for (const [name, path] of [
      ["report", report],
      ["policy", result.folders.policy],
      ["PRM", result.folders.prm],
    ] as const)
      process.stdout.write(`${name.padEnd(8)}${relative(".", path)}\n`);
  } finally {
    view.stop();
  }
}
