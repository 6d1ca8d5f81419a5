/** What a phase of training reports as it goes. */
export interface PhaseProgress {
  /** `sft`, `prm` or `rl`. */
  readonly phase: string;
  /** Part of a phase that has several: the stage of PRM training, `head` or `all`. */
  readonly part?: string;
  /** Steps done. */
  readonly step: number;
  /** Steps in all. */
  readonly steps: number;
  /** Metrics of the step. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** Where and how a phase runs. */
export interface PhaseOptions {
  /** The run's folder. */
  readonly folder: string;
  /** Ends the run after the step under way, which is saved. */
  readonly signal?: AbortSignal;
  /** Called after each step. */
  readonly onProgress?: (progress: PhaseProgress) => void;
  /** Go on where an earlier run in the folder stood. */
  readonly resume?: boolean;
}
