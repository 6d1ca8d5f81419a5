import type { AdvantagesResults, Example, ExampleKind, ExampleSolution } from "../rollouts/index.ts";
import { cellKey, largest, shadedCell, signedCell } from "./cells.ts";
import { type Html, html } from "./html.ts";
import { decimal } from "./numbers.ts";

const WHY: Readonly<Record<ExampleKind, (chosen: string) => string>> = {
  disagree: (chosen) => `${chosen} prefers the right solution, sum-form the wrong one (chosen for that).`,
  opposite: (chosen) => `Sum-form prefers the right solution, ${chosen} the wrong one (chosen for that).`,
  plain: () => "The first right and wrong solution of one problem in the file.",
};

/** @internal Solutions with every step coloured by reward, weight and advantage. */
export function solutionsSection({ examples, summary }: AdvantagesResults): Html | undefined {
  if (examples.length === 0) return undefined;
  const names = summary.forms.map(({ form }) => form);
  return html`<section><h2>Solutions, step by step</h2>
<p class="note">${cellKey("a problem")} The first wrong step is marked.</p>
${examples.map((example) => exampleBlock(example, names))}</section>`;
}

function exampleBlock(example: Example, names: readonly string[]): Html {
  const { kind, group, question, answer, solutions } = example;
  return html`<article><h3>${group}</h3><p class="note">${WHY[kind](names[0]!)}</p>
${question === undefined ? undefined : html`<p class="question">${question}</p>`}
${answer === undefined ? undefined : html`<p>Answer: <b>${answer}</b></p>`}
${solutions.map((solution) => solutionBlock(solution, names, scalesOf(solutions)))}</article>`;
}

interface Scales {
  readonly reward: number;
  readonly advantages: readonly number[];
}

function scalesOf(solutions: readonly ExampleSolution[]): Scales {
  return {
    reward: largest(solutions.flatMap(({ rewards }) => rewards)),
    advantages: solutions[0]!.forms.map((_, f) =>
      largest(solutions.flatMap(({ forms }) => forms[f]!.advantages)),
    ),
  };
}

function solutionBlock(solution: ExampleSolution, names: readonly string[], scales: Scales): Html {
  const { generator, correct, forms, steps } = solution;
  const outcomes = forms.map(({ outcome }, f) => `${names[f]} outcome ${decimal(outcome)}`).join(", ");
  const weighted = forms[0]!.weights !== undefined;
  return html`<h4><span class="${correct ? "right" : "wrong"}">${correct ? "right" : "wrong"} answer</span> ${generator}</h4>
<p class="note">${outcomes}</p>
<div class="wide"><table class="steps"><thead><tr><th>#</th><th>step</th><th>reward</th>${weighted ? html`<th>weight</th>` : undefined}${names.map((name) => html`<th>advantage,<br>${name}</th>`)}</tr></thead>
<tbody>${steps.map((_, k) => stepRow(solution, k, scales))}</tbody></table></div>`;
}

function stepRow({ steps, rewards, forms, firstError }: ExampleSolution, k: number, scales: Scales): Html {
  const weight = forms[0]!.weights?.[k];
  return html`<tr${k === firstError ? html` class="first-error"` : undefined}><td>${k + 1}</td><td class="text">${steps[k]}</td>${signedCell(rewards[k]!, scales.reward)}${
    weight === undefined ? undefined : shadedCell("weight", weight, decimal(weight))
  }${forms.map(({ advantages }, f) => signedCell(advantages[k]!, scales.advantages[f]!))}</tr>`;
}
