import type { EvalDataset } from "./dataset.ts";

/** What can come out of grading a response. */
export type GradeStatus = "equal" | "different" | "noAnswer" | "unparsed" | "timeout" | "badReference";

/** A response beside the answer that counts as right. */
export interface GradeItem {
  readonly response: string;
  readonly reference: string;
  /** Whether units are part of the answer. */
  readonly units: EvalDataset["units"];
}

/** The verdict on a response. */
export interface Grade {
  readonly status: GradeStatus;
  /** The final answer that was found in the response. */
  readonly prediction?: string;
}

/** Decides whether responses are right. It must give one verdict per item, in their order, and throw for none of them. */
export interface EvalGrader {
  /** For reports: which rules hold. */
  readonly name: string;
  grade(items: readonly GradeItem[], options: { readonly signal?: AbortSignal }): Promise<Grade[]>;
  /** Whether two final answers are the same, for votes. */
  same(a: string, b: string, units: EvalDataset["units"]): Promise<boolean>;
}
