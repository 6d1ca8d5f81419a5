import type { PhaseOptions } from "../run/progress.ts";

/** What supervised fine-tuning gave. */
export interface SftResult {
  /** Folder of the trained model. */
  readonly model: string;
  readonly steps: number;
  /** Metrics of the last evaluation: `eval/loss`, and for the embedded task `eval/pass@1/greedy` and `/sampled`. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** `model: "arithmetic"` starts a fresh model of the embedded task, `data: "arithmetic"` is its mixture. */
export interface SftConfig {
  readonly model: string;
  readonly data: string;
  readonly heldOut?: string;
  readonly seed?: number;
  readonly steps?: number;
  readonly epochs?: number;
  readonly batch?: number;
  readonly learningRate?: number;
}

/** Trains on `{ prompt, completion }` rows; loss on the completion only. */
export declare function trainSft(config: SftConfig, options: PhaseOptions): Promise<SftResult>;
