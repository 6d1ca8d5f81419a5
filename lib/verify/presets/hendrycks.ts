import type { Verdict } from "../types.ts";
import { hendrycksForm, lastBoxed } from "./strip.ts";
import { binary, type Pair } from "./types.ts";

/**
 * The training reward of PURE's main branch: the last box, compared as strings in the normal form of the MATH data set.
 * A comma in the reference (not in the prediction) is ignored.
 */
export function hendrycks(pair: Pair): Verdict {
  const answer = "response" in pair ? lastBoxed(pair.response, false) : pair.prediction;
  if (answer === undefined) return { status: "noAnswer" };
  return binary(hendrycksEqual(answer, pair.reference), answer);
}

/** @internal */
export function hendrycksEqual(prediction: string, reference: string): boolean {
  try {
    const [a, b] = [hendrycksForm(prediction), hendrycksForm(reference)];
    return a === b || a === b.replaceAll(",", "");
  } catch {
    return prediction === reference;
  }
}
