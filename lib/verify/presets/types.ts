import { MAX_LENGTH } from "../limits.ts";
import type { Verdict } from "../types.ts";

/** A prediction, or a whole response that holds one, and what it should be. */
export type Pair =
  | {
      /** An answer, without the text around it. */
      readonly prediction: string;
      /** The right answer. */
      readonly reference: string;
    }
  | {
      /** What a model wrote, the answer somewhere in it. */
      readonly response: string;
      /** The right answer. */
      readonly reference: string;
    };

/** Decides on a pair. */
export type Grader = (pair: Pair) => Verdict;

/** @internal Whether an answer is too long to be compared by rules that are not linear in it. */
export function isTooLong(answer: string): boolean {
  return answer.length > MAX_LENGTH;
}

/** @internal A verdict that knows nothing but right and wrong. */
export function binary(equal: boolean, answer: string | undefined): Verdict {
  return {
    status: equal ? "equal" : "different",
    by: "notation",
    ...(answer === undefined ? {} : { answer }),
  };
}
