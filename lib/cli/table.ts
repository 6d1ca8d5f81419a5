import Table, { type CellOptions } from "cli-table3";
import { decimal, percent } from "../report/numbers.ts";
import { metricSections } from "../report/metrics.ts";
import type { AdvantagesResults, GeneratorSummary } from "../rollouts/index.ts";
import { printable } from "./printable.ts";

// No lines, one blank between columns.
const NO_BORDERS = Object.fromEntries(
  "top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid"
    .split(" ")
    .map((part) => [part, ""]),
);
/** @internal How the tables of the terminal look. */
export const STYLE = {
  chars: { ...NO_BORDERS, middle: " " },
  style: { head: [], border: [], "padding-left": 0, "padding-right": 1 },
};

/** @internal The tables of the terminal: the models, then all metrics. */
export function renderTables(results: AdvantagesResults): string {
  return `${modelTable(results)}\n\n${metricTable(results)}\n`.replace(/ +$/gm, "");
}

function modelTable({ summary }: AdvantagesResults): string {
  const [chosen, sum] = summary.forms.map(({ form }) => form.replace("-form", "")) as [string, string];
  const table = new Table({ ...STYLE, colAligns: ["left", ...Array<"right">(9).fill("right")] });
  const over = (content: string): CellOptions => ({ content, colSpan: 2, hAlign: "right" });
  table.push(["", "", "", "", over("outcome"), over("advantage"), over("AUC")] as CellOptions[]);
  table.push(["model", "n", "right", "steps", chosen, sum, chosen, sum, chosen, sum]);
  for (const generator of summary.generators) table.push(modelRow(generator));
  return table.toString();
}

function modelRow({ name, rollouts, known, right, steps, forms }: GeneratorSummary): string[] {
  const pairs = (["outcome", "advantage", "area"] as const).flatMap((key) =>
    forms.map((form) => decimal(form[key])),
  );
  return [printable(name, 28), String(rollouts), percent(right / known), decimal(steps, 1), ...pairs];
}

function metricTable(results: AdvantagesResults): string {
  const [chosen, sum] = results.summary.forms;
  const table = new Table({ ...STYLE });
  for (const { title, rows } of metricSections(results)) {
    const heads = rows.some(({ values }) => values.length === 2) ? [chosen.form, sum.form] : ["", ""];
    table.push([title.toUpperCase(), ...heads]);
    for (const { name, values } of rows) {
      const cells = values.length === 1 ? [{ content: values[0], colSpan: 2 }] : [...values];
      table.push([`  ${name}`, ...cells] as CellOptions[]);
    }
  }
  return table.toString();
}
