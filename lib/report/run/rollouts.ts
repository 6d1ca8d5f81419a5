import { cellKey, largest, shade, shadedCell, signedCell } from "../cells.ts";
import { type Html, html } from "../html.ts";
import { count, decimal } from "../numbers.ts";
import { grouped } from "./group.ts";
import type { RunData, RunRollout } from "./read.ts";
import { meanOf } from "./series.ts";

// A page of every token of long responses would not open.
const SHOWN_CHARACTERS = 4000;

/** @internal Responses of some steps, folded up, each step of theirs coloured by reward, weight and advantage. */
export function rolloutsSection({ rollouts }: RunData): Html | undefined {
  if (rollouts.length === 0) return undefined;
  const steps = [...grouped(rollouts, ({ step }) => step)];
  return html`<section><h2>Rollouts</h2>
<p class="note">Responses that were trained on, at ${count(steps.length)} ${steps.length === 1 ? "step" : "steps"} of the run. The strip beside a response is its steps by reward. ${cellKey("a group")}</p>
${steps.map(([step, rows], i) => stepBlock(step, rows, i === steps.length - 1))}</section>`;
}

function stepBlock(step: number, rows: readonly RunRollout[], open: boolean): Html {
  const groups = [...grouped(rows, ({ id, prompt }) => `${id}\n${prompt}`).values()];
  const known = rows.filter(({ verified }) => verified !== null);
  const scores = rows.flatMap(({ score }) => (score === null ? [] : [score]));
  const facts = [
    `${count(rows.length)} responses`,
    ...(known.length > 0 ? [`${count(known.filter(right).length)} of ${count(known.length)} right`] : []),
    ...(scores.length > 0 ? [`mean score ${decimal(meanOf(scores))}`] : []),
    `${decimal(meanOf(rows.map(({ steps }) => steps.length)), 1)} steps each`,
  ];
  return html`<details class="rollout-step"${open ? html` open` : undefined}><summary><b>Step ${step}</b> <span class="note">${facts.join(", ")}</span></summary>
${groups.map(groupBlock)}</details>`;
}

const right = ({ verified }: RunRollout): boolean => verified !== null && verified > 0;

function groupBlock(rows: readonly RunRollout[]): Html {
  const { prompt, answer, id } = rows[0]!;
  const scales: Scales = {
    reward: largest(rows.flatMap(({ step_rewards }) => step_rewards.map(number))),
    advantage: largest(rows.flatMap(({ advantages }) => advantages.map(number))),
  };
  return html`<article><h3 class="question">${shown(prompt)}</h3>
<p class="note">${answer === null ? "No answer is known." : html`Answer: <b>${answer}</b>`} ${id === "" ? undefined : html`<span>Prompt ${id}.</span>`}</p>
${rows.map((row) => responseBlock(row, scales))}</article>`;
}

interface Scales {
  readonly reward: number;
  readonly advantage: number;
}

const number = (value: number | null | undefined): number => value ?? 0;

function responseBlock(row: RunRollout, scales: Scales): Html {
  const { steps, step_rewards, weights, advantages, stopped, length, score } = row;
  const columns = [
    { name: "reward", has: step_rewards.length > 0, cell: signed(step_rewards, scales.reward) },
    { name: "weight", has: weights.length > 0, cell: weightCell(weights) },
    { name: "advantage", has: advantages.length > 0, cell: signed(advantages, scales.advantage) },
  ].filter(({ has }) => has);
  const facts = [
    ...(score === null ? [] : [`score ${decimal(score)}`]),
    `${count(length)} tokens`,
    ...(stopped ? [] : ["truncated"]),
  ];
  return html`<details><summary>${badge(row)} ${strip(row, scales)} <span class="note">${facts.join(", ")}</span></summary>
<div class="wide"><table class="steps"><thead><tr><th>#</th><th>step</th>${columns.map(({ name }) => html`<th>${name}</th>`)}</tr></thead>
<tbody>${steps.map(
    (text, k) =>
      html`<tr><td>${k + 1}</td><td class="text">${shown(text.trim())}</td>${columns.map(({ cell }) => cell(k))}</tr>`,
  )}</tbody></table></div></details>`;
}

function signed(values: RunRollout["advantages"], scale: number): (k: number) => Html {
  return (k) => signedCell(values[k] ?? Number.NaN, scale);
}

function weightCell(values: RunRollout["weights"]): (k: number) => Html {
  return (k) => shadedCell("weight", number(values[k]), decimal(values[k] ?? undefined));
}

function badge(row: RunRollout): Html {
  if (row.verified === null) return html`<span class="unknown">not known</span>`;
  return right(row) ? html`<span class="right">right</span>` : html`<span class="wrong">wrong</span>`;
}

// By reward; by advantage where steps have none.
function strip({ steps, step_rewards, advantages }: RunRollout, scales: Scales): Html {
  const byReward = step_rewards.length > 0;
  const [values, scale] = byReward ? [step_rewards, scales.reward] : [advantages, scales.advantage];
  const cells = steps.slice(0, 40).map((_, k) => {
    const value = number(values[k]);
    const colour = shade(value < 0 ? "negative" : "positive", 0.12 + Math.abs(value) / scale);
    return html`<span style="${colour}"></span>`;
  });
  return html`<span class="strip">${cells}</span>`;
}

function shown(text: string): string {
  const left = text.length - SHOWN_CHARACTERS;
  return left <= 0 ? text : `${text.slice(0, SHOWN_CHARACTERS)}\n[${count(left)} characters are not shown]`;
}
