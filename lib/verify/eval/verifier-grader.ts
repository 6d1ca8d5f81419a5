import { setImmediate } from "node:timers/promises";
import { verify, verifyResponse } from "../verify.ts";
import type { EvalGrader } from "./grader.ts";

// Longest stretch between two looks at the event loop, in milliseconds; a single pair may take longer.
const STRETCH = 10;

/** {@link verifyResponse} as a grader: the last complete box of a response against the reference. */
export function verifierGrader(): EvalGrader {
  return {
    name: "default",
    async grade(items, { signal }) {
      const verdicts = [];
      let since = performance.now();
      for (const { response, reference } of items) {
        verdicts.push(verifyResponse(response, reference));
        if (performance.now() - since < STRETCH) continue;
        await setImmediate();
        signal?.throwIfAborted();
        since = performance.now();
      }
      return verdicts;
    },
    same: async (a, b) => verify(a, b).status === "equal",
  };
}
