// A grader that compares the boxed text, and samples that are made up.
import {
  type BadSample,
  type EvalDataset,
  type EvalGrader,
  type EvalResults,
  type EvaluateOptions,
  evaluate,
  type GeneratedSample,
  type Generator,
} from "../../../lib/verify/eval/index.ts";

/** Texts are equal or not; "timeout", "unparsed" and "badReference" in a box are those verdicts. */
export const textGrader: EvalGrader = {
  name: "text",
  async grade(items) {
    return items.map(({ response, reference }) => {
      const answer = /\\boxed\{(.*)\}/.exec(response)?.[1];
      if (answer === undefined) return { status: "noAnswer" };
      for (const status of ["timeout", "unparsed", "badReference"] as const)
        if (answer === status) return { status, answer };
      return { status: answer === reference ? "equal" : "different", answer };
    });
  },
  // 0.5 and 1/2 are one answer.
  same: async (a, b) => [a, b].every((text) => ["0.5", "1/2"].includes(text)),
};

export const boxed = (answer: string): string => `So it is \\boxed{${answer}}.`;

export function datasetOf(references: readonly string[], name = "set", more: object = {}): EvalDataset {
  return {
    name,
    title: name,
    source: `${name}.jsonl`,
    units: "dropped",
    problems: references.map((reference, index) => ({
      id: String(index),
      index,
      question: `Question ${index}?`,
      reference,
      types: {},
    })),
    ...more,
  };
}

/** A generator of given samples. */
export function given(samples: readonly (GeneratedSample | BadSample)[]): Generator {
  return {
    name: "given",
    async *generate() {
      yield* samples;
    },
  };
}

/** Evaluates answers, a list per problem of one dataset. */
export function run(
  answers: readonly (readonly string[])[],
  references: readonly string[],
  options: Partial<EvaluateOptions> = {},
): Promise<EvalResults> {
  const samples = answers.flatMap((list, index) =>
    list.map((answer) => ({ index, response: boxed(answer) })),
  );
  return evaluate(given(samples), { grader: textGrader, datasets: [datasetOf(references)], ...options });
}
