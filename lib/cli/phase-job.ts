import { relative } from "node:path";
import { liveView } from "../train/live/index.ts";
import { prmSchema } from "../train/prm/config.ts";
import { trainPrm } from "../train/prm/train.ts";
import type { PhaseOptions } from "../train/run/progress.ts";
import { readPhaseConfig } from "../train/run/read-config.ts";
import { sftSchema } from "../train/sft/config.ts";
import { trainSft } from "../train/sft/train.ts";
import { readConfigOf } from "./lookalike.ts";
import { folderOf, type PhaseFlags, tellFreshStart } from "./phase.ts";
import { prmTable } from "./pure-tables.ts";

const PATHS = ["model", "data", "heldOut"];

/** @internal Runs `minform sft`. */
export async function runSft(file: string, flags: PhaseFlags, signal: AbortSignal): Promise<void> {
  const config = await readConfigOf("sft", file, () => readPhaseConfig(sftSchema, file, flags.set, PATHS));
  const { model, steps, metrics, rows } = await watched(file, flags, signal, (options) =>
    trainSft(config, options),
  );
  if (flags.quiet) return;
  const heldOut = metrics["eval/loss"];
  const loss = heldOut === undefined ? "" : `, loss ${heldOut.toFixed(4)} per token on held-out rows`;
  process.stdout.write(`${steps} steps${loss}\n${counted(rows, "rows")}\nmodel   ${relative(".", model)}\n`);
}

/** @internal Runs `minform train-prm`. */
export async function runTrainPrm(file: string, flags: PhaseFlags, signal: AbortSignal): Promise<void> {
  const config = await readConfigOf("train-prm", file, () =>
    readPhaseConfig(prmSchema, file, flags.set, PATHS),
  );
  const { model, stages, rows } = await watched(file, flags, signal, (options) => trainPrm(config, options));
  if (flags.quiet) return;
  const measured = stages.filter(({ quality }) => quality !== undefined);
  if (measured.length > 0) process.stdout.write(`${prmTable(measured)}\n\n`);
  process.stdout.write(`${counted(rows, "solutions")}\nmodel   ${relative(".", model)}\n`);
}

function counted({ used, tooLong }: { used: number; tooLong: number }, what: string): string {
  return `${used} ${what}${tooLong > 0 ? `, ${tooLong} left out as too long` : ""}`;
}

async function watched<Result>(
  file: string,
  flags: PhaseFlags,
  signal: AbortSignal,
  train: (options: PhaseOptions) => Promise<Result>,
): Promise<Result> {
  const folder = folderOf(file, flags);
  tellFreshStart(folder, flags);
  const view = liveView({ quiet: flags.quiet === true });
  try {
    return await train({
      folder,
      resume: flags.resume === true,
      signal,
      onProgress: view.update.bind(view),
    });
  } finally {
    view.stop();
  }
}
