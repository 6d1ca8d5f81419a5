import { ArgumentError } from "../../errors.ts";

/** Which step of a wrong solution is taken for the wrong one. */
export const BLAME = ["weakest", "last"] as const;

/** One of {@link BLAME}. */
export type Blame = (typeof BLAME)[number];

/**
 * Labels of steps from nothing but whether the answer is right.
 *
 * - Right: every step is good. Errors that cancel out are rare, and one that does is harmless.
 * - Wrong: at least one step is bad, and nobody says which. `"weakest"` takes the one that the PRM likes least (the first
 *   of equals): in min-form credit a solution is worth what its weakest step is, so it is the step whose reward the wrong
 *   answer contradicts. `"last"` takes the last step, which states the answer and is wrong for certain, whatever led to it.
 *   The other steps are not labelled: those before may be good, those after an error are not judged (as PRM800K does it).
 *
 * @param isRight - whether the answer is right
 * @param rewards - of the PRM, one per step
 * @returns per step: good, bad, or `null` where nothing is known
 * @throws {@link ArgumentError} `ERR_SHAPE` for a solution without steps
 */
export function relabel(
  isRight: boolean,
  rewards: ArrayLike<number>,
  blame: Blame = "weakest",
): (boolean | null)[] {
  const { length } = rewards;
  if (length === 0) throw new ArgumentError("ERR_SHAPE", "rewards: expected at least one step, got 0");
  if (isRight) return new Array<boolean>(length).fill(true);
  let blamed = length - 1;
  if (blame === "weakest") {
    blamed = 0;
    for (let k = 1; k < length; k++) if (rewards[k]! < rewards[blamed]!) blamed = k;
  }
  return Array.from({ length }, (_, k) => (k === blamed ? false : null));
}
