import type { GraderName } from "../presets/index.ts";
import type { Pair } from "../presets/types.ts";
import type { Verdict, VerifyOptions } from "../types.ts";
import type { ExtractOptions } from "../extract/extract.ts";

/** How pairs are graded. */
export interface GradingOptions extends VerifyOptions, ExtractOptions {
  /** Whose rules decide; default `default`, which are {@link verify}'s own. See {@link graders}. */
  readonly grader?: GraderName;
}

/** @internal What a thread is asked: some pairs, to be answered one by one. */
export interface Request {
  readonly pairs: readonly Pair[];
  readonly options: GradingOptions;
}

/** @internal What it says: that it is there, or the verdict on the next pair. */
export type Reply = { readonly kind: "ready" } | { readonly kind: "verdict"; readonly verdict: Verdict };
