/**
 * What came of a pair.
 *
 * - `equal`, `different`: the verdict.
 * - `noAnswer`: the response holds no answer, or the prediction is empty.
 * - `unparsed`: the prediction cannot be read, and is not the reference letter by letter.
 * - `timeout`: the pair took more work or time than allowed.
 * - `badReference`: the reference is empty or cannot be read; says nothing about the prediction.
 */
export type VerdictStatus = "equal" | "different" | "noAnswer" | "unparsed" | "timeout" | "badReference";

/** The result for one pair. */
export interface Verdict {
  /** What came of it; only `equal` is a right answer. */
  readonly status: VerdictStatus;
  /** The answer that was compared, as it stood in the response. */
  readonly answer?: string;
  /** Which layer decided: the same notation, exact fractions, or form with numeric evaluation. */
  readonly by?: "notation" | "exact" | "structure";
  /** Why there is no verdict. */
  readonly detail?: string;
}

/** Options of {@link verify}. */
export interface VerifyOptions {
  /** Milliseconds that one pair may take; default 1000. Work is counted too, so slow machines give the same verdicts. */
  readonly timeLimit?: number;
  /**
   * What a decimal as reference means. `exact` (default): that number. `significant`: a measured value, which every
   * number is equal to that rounds to it at its last digit: 2.449 to 2.45, 4.53e33 to 4.5e33; never the reverse. Whole
   * numbers without a power of ten, and fractions, are exact all the same.
   */
  readonly decimals?: "exact" | "significant";
}
