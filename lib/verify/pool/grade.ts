import { extractAnswer } from "../extract/extract.ts";
import { graders } from "../presets/index.ts";
import type { Verdict } from "../types.ts";
import { quickVerdict, verify, verifyResponse } from "../verify.ts";
import type { Pair } from "../presets/types.ts";
import type { GradingOptions } from "./protocol.ts";

/** @internal The verdict on a pair. Never throws, whatever the pair is. */
export function grade(pair: Pair, options: GradingOptions): Verdict {
  const { grader = "default" } = options;
  if (grader !== "default") return graders[grader](pair);
  if ("response" in pair) return verifyResponse(pair.response, pair.reference, options);
  return verify(pair.prediction, pair.reference, options);
}

/** Longer texts are left to the threads. */
const SHORT = 20_000;

/** @internal The verdict on a pair where it takes microseconds; undefined for all others. */
export function gradeQuickly(pair: Pair, options: GradingOptions): Verdict | undefined {
  if ((options.grader ?? "default") !== "default") return undefined;
  if (!("response" in pair)) return quickVerdict(pair.prediction, pair.reference, options);
  if (typeof pair.response === "string" && pair.response.length > SHORT) return undefined;
  const answer = extractAnswer(pair.response, options);
  if (answer === undefined) return verifyResponse(pair.response, pair.reference, options);
  const verdict = quickVerdict(answer, pair.reference, options);
  return verdict && { ...verdict, answer };
}
