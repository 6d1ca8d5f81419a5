import { PrmError } from "../../errors.ts";

/** One row for the model. */
export interface InputRow {
  /** Token ids. */
  readonly ids: readonly number[];
  /** Positions to read, rising with the steps. */
  readonly reads: readonly number[];
  /** One per read, for log-probabilities. */
  readonly targets?: readonly number[];
  /** Layout of packed prefixes, one number per token. */
  readonly tree?: {
    /** Rotary positions. */
    readonly positions: readonly number[];
    /** 0 for the text that all share, else the number of the branch. */
    readonly branch: readonly number[];
    /** How much of the shared text the token sees. */
    readonly trunkVisible: readonly number[];
  };
}

/** @internal What a convention makes of one item. */
export interface BuiltInput {
  readonly rows: readonly InputRow[];
  /** Reads that make up each step's score, one each unless the convention sums log-ratios. */
  readonly readsPerStep: readonly number[];
  /** Rows of some of the steps, where steps have inputs of their own. */
  readonly keep?: (steps: readonly number[]) => readonly InputRow[];
  /** Longest position + 1 that each step needs, to be held against the context. */
  readonly lengths: readonly number[];
}

/** @internal The invariant: one read per step, each at a place of its own. */
export function assertReads(name: string, found: number, steps: number, what = "step marker"): void {
  if (found !== steps) {
    throw new PrmError(
      "ERR_STEP_READS",
      `convention ${name}: expected ${steps} ${what}${steps === 1 ? "" : "s"}, found ${found}`,
    );
  }
}

/** @internal A causal row in which step k is read at `reads[k]`. */
export function causalRow(ids: readonly number[], reads: readonly number[]): BuiltInput {
  return {
    rows: [{ ids, reads }],
    readsPerStep: reads.map(() => 1),
    lengths: reads.map((read) => read + 1),
  };
}
