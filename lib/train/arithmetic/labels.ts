import { applyTerm, type Problem, sameTerm, termAfter } from "./problem.ts";

/** What a step says, and whether it is right. */
export interface StepLabel {
  /** What the step does; `"unfinished"`: it is none of the others. */
  readonly kind: "operation" | "restatement" | "box" | "unfinished";
  /** Whether it is right, taken by itself. */
  readonly good: boolean;
}

const OPERATION = /^(\d)([+-])(\d)=(\d)$/;
const RESTATEMENT = /^(\d)=(\d)$/;
const BOX = /^\\boxed\{(\d)\}$/;

/**
 * Labels the steps of a solution (without their blank lines), each by itself: an operation is good when it takes the
 * number that the step before ended on and the next term of the problem, and computes rightly; a restatement when it is
 * true of that number; the box when it holds the right answer and all terms are used. Steps after a wrong one can be
 * good: they go on correctly from a wrong number.
 */
export function labelSteps(problem: Problem, steps: readonly string[]): StepLabel[] {
  let total = problem.first;
  let term = 0;
  let allTerms = true;
  return steps.map((step): StepLabel => {
    const operation = OPERATION.exec(step);
    if (operation) {
      const [left, digit, result] = [1, 3, 4].map((i) => Number(operation[i])) as [number, number, number];
      const used = { sign: operation[2] as "+" | "-", digit };
      const wanted = sameTerm(problem.terms[term], used);
      const good = wanted && left === total && result === applyTerm(left, used);
      allTerms &&= wanted;
      term = termAfter(problem, term, used);
      total = result;
      return { kind: "operation", good };
    }
    const restatement = RESTATEMENT.exec(step);
    if (restatement) {
      const good = Number(restatement[1]) === total && Number(restatement[2]) === total;
      total = Number(restatement[2]);
      return { kind: "restatement", good };
    }
    const box = BOX.exec(step);
    if (!box) return { kind: "unfinished", good: false };
    return {
      kind: "box",
      good: Number(box[1]) === problem.answer && allTerms && term === problem.terms.length,
    };
  });
}
