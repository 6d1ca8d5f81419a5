import { assertCount, assertNumber, assertOneOf } from "../validate.ts";

/** Shapes of a {@link Schedule}. */
export const SCHEDULES = ["constant", "cosine", "linear"] as const;

/** How the learning rate goes over a run. */
export interface Schedule {
  /** After the warm-up. */
  readonly shape: (typeof SCHEDULES)[number];
  /** Steps over which it rises in a line from 0 to the peak. Default 0. */
  readonly warmup?: number;
  /** Share of the peak that cosine and linear end at, in [0, 1]. Default 0. */
  readonly final?: number;
}

/**
 * Learning rate of a step as a share of the peak: `step / warmup` up to the warm-up's end; from there on, with
 * `x = (step - warmup) / (steps - warmup)`, 1 for constant, `final + (1 - final) (1 - x)` for linear, and
 * `final + (1 - final) (1 + cos(pi x)) / 2` for cosine.
 *
 * @param step - from 1 on; past `steps` the rate stays as it ended
 * @param steps - steps of the run
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE`
 */
export function scheduled({ shape, warmup = 0, final = 0 }: Schedule, step: number, steps: number): number {
  assertOneOf(shape, "shape", SCHEDULES);
  assertCount(warmup, "warmup");
  assertNumber(final, "final", { low: 0, high: 1 });
  assertNumber(step, "step", { low: 1 });
  if (step < warmup) return step / warmup;
  if (shape === "constant") return 1;
  const done = Math.min(1, (step - warmup) / Math.max(1, steps - warmup));
  return final + (1 - final) * (shape === "linear" ? 1 - done : (1 + Math.cos(Math.PI * done)) / 2);
}
