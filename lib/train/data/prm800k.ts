import { z } from "zod";
import { InputError } from "../../errors.ts";
import type { StepwiseRow } from "./stepwise.ts";

const completion = z.looseObject({ text: z.string(), rating: z.number().nullish() });

const schema = z.looseObject({
  question: z.looseObject({ problem: z.string() }),
  label: z.looseObject({
    steps: z.array(
      z.looseObject({
        completions: z.array(completion).nullish(),
        human_completion: completion.nullish(),
        chosen_completion: z.int().nullish(),
      }),
    ),
  }),
});

/**
 * @internal A row of PRM800K as published: a list of steps, each with rated alternatives, of which one was chosen to go
 * on from. Gives the chosen path with its labels, and a row for each other rated alternative, in which the path before it
 * bears no labels: every rating counts once. Ratings 1 and 0 are right, -1 is wrong.
 */
export function prm800kRows(row: unknown): StepwiseRow[] {
  const result = schema.safeParse(row);
  const issue = result.error?.issues[0];
  if (issue) throw new InputError("ERR_INPUT", `${issue.path.join(".")}: ${issue.message}`);
  const { question, label } = result.data!;
  const path: { text: string; label: boolean | null }[] = [];
  const rows: StepwiseRow[] = [];
  const add = (steps: readonly { text: string; label: boolean | null }[]) => {
    if (steps.every((step) => step.label === null)) return;
    rows.push({
      prompt: question.problem,
      completions: steps.map((step) => step.text),
      labels: steps.map((step) => step.label),
    });
  };
  for (const { completions, human_completion: own, chosen_completion: chosen } of label.steps) {
    const before = path.map(({ text }) => ({ text, label: null }));
    for (const [i, { text, rating }] of (completions ?? []).entries()) {
      if (i !== chosen) add([...before, { text, label: judge(rating) }]);
    }
    const next = completions?.[chosen ?? -1] ?? own;
    if (next === null || next === undefined) break;
    path.push({ text: next.text, label: next === own ? true : judge(next.rating) });
  }
  add(path);
  return rows;
}

function judge(rating: number | null | undefined): boolean | null {
  return rating === null || rating === undefined ? null : rating >= 0;
}
