import { policyStepEnds } from "../steps.ts";
import { type BuiltInput, causalRow } from "./input.ts";

/**
 * @internal The policy's own ids as PURE's verl worker feeds them: every token whose text ends with the separator, and
 * the last one (EOS or not), is replaced by the PRM's separator, so input and response stay one to one.
 */
export function buildPolicy(
  promptIds: readonly number[],
  responseIds: readonly number[],
  replace: number,
  endsStep: (id: number) => boolean,
): { built: BuiltInput; ends: readonly number[] } {
  const ends = policyStepEnds(responseIds, endsStep);
  const ids = [...promptIds, ...responseIds];
  const reads = ends.map((end) => promptIds.length + end);
  for (const read of reads) ids[read] = replace;
  return { built: causalRow(ids, reads), ends };
}
