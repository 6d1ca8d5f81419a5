import type { PhaseOptions } from "../run/progress.ts";

/** Quality of a PRM on held-out solutions. */
export interface PrmQuality {
  /** Share of labelled steps judged rightly. */
  readonly accuracy: number;
  /** ProcessBench: harmonic mean of the next two. */
  readonly f1: number;
  /** Share of wrong solutions whose first error is found. */
  readonly errors: number;
  /** Share of right solutions without a step called wrong. */
  readonly correct: number;
}

/** What PRM training gave. */
export interface PrmResult {
  /** Folder of the trained PRM, for `minform score`. */
  readonly model: string;
  /** After each stage. */
  readonly stages: readonly { readonly name: "head" | "all"; readonly quality: PrmQuality | undefined }[];
}

/** `data: "arithmetic"` draws and labels solutions of `model` on the embedded task. */
export interface PrmConfig {
  /** Checkpoint that the PRM starts from. */
  readonly model: string;
  readonly data: string;
  readonly heldOut?: string;
  readonly seed?: number;
}

/** Trains a PRM in two stages, as PURE. */
export declare function trainPrm(config: PrmConfig, options: PhaseOptions): Promise<PrmResult>;
