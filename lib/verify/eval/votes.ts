import { majority } from "../../select.ts";
import type { EvalDataset } from "./dataset.ts";
import type { EvalGrader } from "./grader.ts";
import type { SampleResult } from "./results.ts";

/** @internal The answer that most of some samples give. */
export interface VoteResult {
  readonly answer: string;
  readonly count: number;
  readonly right: boolean;
}

/**
 * @internal Votes of one problem among its first k samples; of equally frequent answers the one given first wins. Answers
 * with different verdicts are never one answer, right ones always are, wrong ones when the grader says so. Samples
 * without an answer do not vote.
 *
 * @param counts - k of each vote
 * @returns one per k; undefined where no sample has an answer
 */
export async function votes(
  samples: readonly SampleResult[],
  counts: readonly number[],
  grader: EvalGrader,
  units: EvalDataset["units"],
): Promise<(VoteResult | undefined)[]> {
  const known = new Map<string, Promise<boolean>>();
  const same = (a: SampleResult, b: SampleResult): boolean | Promise<boolean> => {
    if (a.status === "equal" || b.status === "equal") return a.status === b.status;
    if (a.answer === b.answer) return true;
    const key = JSON.stringify([a.answer, b.answer]);
    const asked = known.get(key) ?? grader.same(a.answer!, b.answer!, units);
    known.set(key, asked);
    return asked;
  };
  const out: (VoteResult | undefined)[] = [];
  for (const k of counts) {
    const answers = samples.slice(0, k).map((sample) => (hasAnswer(sample) ? sample : undefined));
    const { answer, groups, index } = await majority(answers, same);
    const members = groups.find((group) => group.members[0] === index)?.members;
    out.push(
      answer && {
        answer: answer.answer!,
        count: members!.length,
        right: answer.status === "equal",
      },
    );
  }
  return out;
}

function hasAnswer({ answer }: SampleResult): boolean {
  return answer !== undefined && answer.trim() !== "";
}
