/** How the learning rate goes over a run. */
export interface Schedule {
  readonly shape: "constant" | "cosine" | "linear";
  /** Steps over which it rises from 0. Default 0. */
  readonly warmup?: number;
  /** Share of the peak that cosine and linear end at. Default 0. */
  readonly final?: number;
}

/** Learning rate of step `step` (the first is 1) of `steps`, as a share of the peak in (0, 1]. */
export declare function scheduled(schedule: Schedule, step: number, steps: number): number;
