import { vi } from "vitest";
import { addon } from "../../lib/load.ts";

/** Counts the tokens that the next generation writes, those that its result leaves out included. */
export function countWritten(): () => number {
  const spy = vi.spyOn(addon().model, "generate");
  return () => {
    const [tokens, logProbs] = spy.mock.lastCall!.slice(19) as unknown as [Int32Array, Float32Array];
    if (tokens.length !== logProbs.length) throw new Error("expected tokens and their log-probs");
    return logProbs.reduce((count, value) => count + (value < 0 ? 1 : 0), 0);
  };
}
