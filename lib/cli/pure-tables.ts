import type { PrmStage } from "../train/prm/train.ts";
import { textTable } from "./text-table.ts";

type Measure = number | null | undefined;

const percent = (value: Measure) => (isKnown(value) ? `${(100 * value).toFixed(1)} %` : "-");
const decimal = (value: Measure, digits = 2) => (isKnown(value) ? value.toFixed(digits) : "-");

function isKnown(value: Measure): value is number {
  return typeof value === "number" && !Number.isNaN(value);
}

/** @internal Quality of a PRM after each stage, for the terminal. */
export function prmTable(stages: readonly PrmStage[]): string {
  return textTable({
    title: "PRM, held-out solutions",
    head: ["", ...stages.map(({ name }) => `after ${name === "head" ? "the head" : "all weights"}`)],
    rows: [
      ["steps judged rightly", ...stages.map(({ quality }) => percent(quality?.accuracy))],
      ["first errors found", ...stages.map(({ quality }) => percent(quality?.errors))],
      ["right solutions kept", ...stages.map(({ quality }) => percent(quality?.correct))],
      ["F1", ...stages.map(({ quality }) => decimal(quality?.f1, 3))],
      ["mean reward after an error", ...stages.map(({ quality }) => decimal(quality?.afterError))],
    ],
  });
}

const ROWS: readonly [metric: string, title: string, show: (value: Measure) => string][] = [
  ["eval/pass@1/greedy", "pass@1, greedy", percent],
  ["eval/pass@1/sampled", "pass@1, sampled", percent],
  ["eval/reward/greedy", "reward, greedy", decimal],
  ["eval/reward/sampled", "reward, sampled", decimal],
  ["eval/steps", "steps", decimal],
  ["eval/tokens", "tokens", (value) => decimal(value, 1)],
  ["eval/prm", "lowest step reward, mean", decimal],
  ["eval/kl", "KL to the base model", decimal],
];

/** @internal What RL changed, for the terminal. */
export function changeTable(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): string {
  return textTable({
    title: "Policy, held-out problems",
    head: ["", "before", "after"],
    rows: ROWS.filter(([metric]) => metric in before || metric in after).map(([metric, title, show]) => [
      title,
      show(before[metric]),
      show(after[metric]),
    ]),
  });
}
