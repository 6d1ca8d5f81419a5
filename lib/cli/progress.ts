import { Presets, SingleBar } from "cli-progress";
import type { JobProgress } from "../rollouts/index.ts";

/** @internal Shows how far a job is, on stderr. */
export interface ProgressView {
  update(progress: JobProgress): void;
  stop(): void;
}

/**
 * @internal A progress bar on a terminal, nothing elsewhere or when `quiet`.
 *
 * @param inputBytes - size of the input
 */
export function progressView(inputBytes: number, quiet: boolean): ProgressView {
  if (quiet || !process.stderr.isTTY) return { update() {}, stop() {} };
  const bar = new SingleBar(
    {
      format: "{phase} {bar} {percentage} %  {eta_formatted}",
      stream: process.stderr,
      clearOnComplete: true,
      hideCursor: true,
    },
    Presets.shades_classic,
  );
  // The first pass counts bytes, the second rollouts: half of the bar each.
  bar.start(1, 0, { phase: "reading  " });
  return {
    update: ({ phase, done, total = inputBytes }) =>
      bar.update((phase === "computing" ? 0.5 : 0) + (0.5 * done) / Math.max(1, total), {
        phase: phase.padEnd(9),
      }),
    stop: () => bar.stop(),
  };
}
