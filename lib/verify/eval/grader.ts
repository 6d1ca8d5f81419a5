import type { Verdict } from "../types.ts";
import type { EvalDataset } from "./dataset.ts";

/** A response beside the answer that counts as right. */
export interface GradeItem {
  /** What the model wrote, cut at the first stop string and trimmed; perhaps empty. */
  readonly response: string;
  /** The answer that counts as right. */
  readonly reference: string;
  /** Whether units are part of the answer. */
  readonly units: EvalDataset["units"];
}

/**
 * Decides whether responses are right. It must give one verdict per item, in their order, and throw for none of them.
 */
export interface EvalGrader {
  /** For reports: which rules hold. */
  readonly name: string;
  /** Verdicts in the order of the items, exactly one for each; the signal, if any, ends the work. */
  grade(items: readonly GradeItem[], options: { readonly signal?: AbortSignal }): Promise<Verdict[]>;
  /** Whether two final answers are the same, for votes. */
  same(a: string, b: string, units: EvalDataset["units"]): Promise<boolean>;
}
