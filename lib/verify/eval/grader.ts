import type { Verdict } from "../types.ts";
import type { EvalDataset } from "./dataset.ts";

/** A response beside the answer that counts as right. */
export interface GradeItem {
  readonly response: string;
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
  grade(items: readonly GradeItem[], options: { readonly signal?: AbortSignal }): Promise<Verdict[]>;
  /** Whether two final answers are the same, for votes. */
  same(a: string, b: string, units: EvalDataset["units"]): Promise<boolean>;
}
