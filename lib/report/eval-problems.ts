import type { DatasetResult, ProblemResult, SampleResult } from "../verify/eval/index.ts";
import { type Html, html } from "./html.ts";
import { count } from "./numbers.ts";

// A page of every token of a long evaluation would not open.
const SHOWN_CHARACTERS = 8000;

/** @internal Every problem of a dataset with its samples, folded up; those with a wrong sample first. */
export function problemsSection({ title, problems, samples: n }: DatasetResult): Html {
  const solved = problems.filter(({ right }) => right === n);
  const open = problems.filter(({ right }) => right < n).sort((a, b) => b.right - a.right);
  const list = (heading: string, some: readonly ProblemResult[]) =>
    some.length === 0
      ? undefined
      : html`<h3>${heading}: ${count(some.length)}</h3>${some.map((problem) => problemBlock(problem, n))}`;
  return html`<section><h2>${title}, problem by problem</h2>
${list("Not all samples right", open)}${list("All samples right", solved)}</section>`;
}

function problemBlock(problem: ProblemResult, n: number): Html {
  const { id, question, reference, samples, right, vote, missing } = problem;
  const kinds = Object.entries(problem.types).map(([key, value]) => `${key} ${value}`);
  return html`<details><summary><span class="${right === n ? "right" : "wrong"}">${right} of ${n}</span> ${id} <span class="note">${kinds.join(", ")}</span></summary>
<article><p class="question">${question}</p><p>Reference: <b>${reference}</b></p>
${vote && html`<p>Majority: <b>${vote.answer}</b> (${vote.count} of ${n}, ${vote.right ? "right" : "wrong"})</p>`}
${missing > 0 ? html`<p>Missing samples: ${missing}</p>` : undefined}
${samples.map(sampleBlock)}</article></details>`;
}

const VERDICT: Readonly<Record<SampleResult["status"], string>> = {
  equal: "right",
  different: "wrong",
  noAnswer: "no answer",
  unparsed: "unreadable answer",
  timeout: "timed out",
  badReference: "bad reference",
};

function sampleBlock({ sample, status, answer, empty, truncated, response }: SampleResult): Html {
  const remarks = [empty ? "empty" : "", truncated ? "truncated" : ""].filter((text) => text !== "");
  return html`<details><summary><span class="${status === "equal" ? "right" : "wrong"}">${VERDICT[status]}</span> sample ${sample}${
    answer === undefined ? undefined : html`: <b>${answer}</b>`
  } <span class="note">${remarks.join(", ")}</span></summary>
<p class="question">${response === undefined ? "The response was not kept." : shown(response)}</p></details>`;
}

function shown(response: string): string {
  if (response.length <= SHOWN_CHARACTERS) return response;
  const half = SHOWN_CHARACTERS / 2;
  const left = response.length - SHOWN_CHARACTERS;
  return `${response.slice(0, half)}\n[${count(left)} characters are not shown]\n${response.slice(-half)}`;
}
