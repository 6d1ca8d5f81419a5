import { MAX_LENGTH } from "../limits.ts";
import { verify, verifyResponse } from "../verify.ts";
import { hendrycks } from "./hendrycks.ts";
import type { GraderName } from "./names.ts";
import { prime } from "./prime.ts";
import { qwen } from "./qwen.ts";
import type { Grader } from "./types.ts";

export { hendrycks } from "./hendrycks.ts";
export { type GraderName, graderNames } from "./names.ts";
export { prime } from "./prime.ts";
export { type QwenOptions, qwen } from "./qwen.ts";
export type { Grader, Pair } from "./types.ts";

/**
 * Graders by name. `default` is this library's own. The others reproduce a peer's verdicts, mistakes included, so that a
 * number can be compared: `hendrycks` (training in PURE's main branch), `prime` (its verl branch), `qwen` (its reported
 * pass@1) and `qwen-minerva` (the same with units kept).
 */
export const graders: Readonly<Record<GraderName, Grader>> = {
  default: (pair) =>
    "response" in pair
      ? verifyResponse(pair.response, pair.reference)
      : verify(pair.prediction, pair.reference),
  hendrycks: safely(hendrycks),
  prime: safely(prime),
  qwen: safely((pair) => qwen(pair)),
  "qwen-minerva": safely((pair) => qwen(pair, { keepUnits: true })),
};

/** Characters of a response that the peers are given, from its end. */
const MOST = 1 << 16;

// The peers raise on strange text, and count that as wrong.
function safely(grader: Grader): Grader {
  return (pair) => {
    const text = "response" in pair ? pair.response : pair.prediction;
    if (typeof text !== "string" || typeof pair.reference !== "string")
      return { status: "unparsed", detail: "expected text" };
    const length = "response" in pair ? 0 : text.length;
    if (Math.max(length, pair.reference.length) > MAX_LENGTH)
      return { status: "unparsed", detail: "too long" };
    try {
      return grader("response" in pair ? { ...pair, response: text.slice(-MOST) } : pair);
    } catch (error) {
      return { status: "unparsed", detail: (error as Error).message };
    }
  };
}
