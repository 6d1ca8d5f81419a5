import type { PhaseProgress } from "../run/progress.ts";

/** Shows how a run goes. */
export interface LiveView {
  /** To be called after each step: takes what `onProgress` gives. */
  update(progress: PhaseProgress): void;
  /** A line that stays. */
  note(text: string): void;
  /** Leaves the last state on the screen, and the cursor as it was. */
  stop(): void;
}

/** Options of {@link liveView}. */
export interface LiveOptions {
  /** Default: standard error. */
  readonly stream?: NodeJS.WriteStream;
  /** Show nothing but notes. */
  readonly quiet?: boolean;
}

/** On a terminal: progress, time left and the key curves, redrawn in place; elsewhere a plain line now and then. */
export declare function liveView(options?: LiveOptions): LiveView;
