import type { DatasetResult, Estimate, EstimateAt, EvalResults } from "../verify/eval/index.ts";
import { count, decimal } from "./numbers.ts";
import type { TextTable } from "./page.ts";

/** @internal A share of 1 as a percentage with one decimal, as benchmark tables have it. */
export function score(value: number): string {
  return decimal(100 * value, 1);
}

/** @internal Both ends of a confidence interval. */
export function interval({ low, high }: Estimate): string {
  return Number.isNaN(low) ? "-" : `${score(low)} to ${score(high)}`;
}

/** @internal The tables that terminal and report show. */
export function evalTables(results: EvalResults): TextTable[] {
  const { datasets, average } = results;
  const several = [
    ...datasets.map(({ title, pass, majority }) => sampleTable(title, pass, majority)),
    ...(average ? [sampleTable("Average", average.pass, average.majority)] : []),
  ];
  return [
    scoreTable(results),
    countTable(results),
    ...several.filter(({ rows }) => rows.length > 1),
    ...datasets.flatMap(typeTables),
  ];
}

function cells(found: Estimate | undefined): [string, string] {
  return found === undefined ? ["-", "-"] : [score(found.value), interval(found)];
}

function scoreTable({ datasets, average }: EvalResults): TextTable {
  const k = datasets[0]?.pass[0]?.k ?? 1;
  const at = (pass: readonly EstimateAt[]) => cells(pass.find((one) => one.k === k));
  return {
    title: "Scores in %",
    head: ["", "problems", "samples each", `pass@${k}`, "95 %"],
    rows: [
      ...datasets.map(({ title, problems, samples, pass }) => [
        title,
        count(problems.length),
        count(samples),
        ...at(pass),
      ]),
      ...(average ? [["average", "", "", ...at(average.pass)]] : []),
    ],
  };
}

function sampleTable(title: string, pass: readonly EstimateAt[], majority: readonly EstimateAt[]): TextTable {
  return {
    title: `${title} by k`,
    head: ["", "pass@k", "95 %", "majority@k", "95 %"],
    rows: pass.map((one) => [count(one.k), ...cells(one), ...cells(majority.find(({ k }) => k === one.k))]),
  };
}

const COUNTS = [
  ["graded", "graded"],
  ["right", "equal"],
  ["wrong", "different"],
  ["no answer", "noAnswer"],
  ["of these empty", "empty"],
  ["unreadable", "unparsed"],
  ["timed out", "timeout"],
  ["bad reference", "badReference"],
  ["truncated", "truncated"],
  ["missing", "missing"],
] as const;

function countTable({ datasets }: EvalResults): TextTable {
  return {
    title: "Samples",
    head: ["", ...COUNTS.map(([name]) => name), "surplus"],
    rows: datasets.map(({ title, counts, surplus }) => [
      title,
      ...COUNTS.map(([, key]) => count(counts[key])),
      count(surplus.length),
    ]),
  };
}

function typeTables({ title, types }: DatasetResult): TextTable[] {
  return [...new Set(types.map(({ key }) => key))].map((key) => ({
    title: `${title} by ${key}`,
    head: ["", "problems", "pass@1", "95 %"],
    rows: types
      .filter((type) => type.key === key)
      .map(({ value, pass }) => [value, count(pass.problems), score(pass.value), interval(pass)]),
  }));
}

/** @internal What a reader of the scores must know: samples that are not there, too many or not usable. */
export function evalNotes({ datasets, bad, missing }: EvalResults): string[] {
  const notes = datasets.flatMap(({ title, size, problems, counts, surplus }) => {
    const out: string[] = [];
    if (size !== undefined && size !== problems.length)
      out.push(`${title}: ${count(problems.length)} problems, the published set has ${count(size)}`);
    if (counts.missing > 0) {
      const without = problems.filter((problem) => problem.missing > 0);
      const how = missing === "wrong" ? "count as wrong" : "are left out";
      out.push(
        `${title}: ${count(counts.missing)} samples are missing and ${how} (${listed(without.map(({ id }) => id))})`,
      );
    }
    if (surplus.length > 0)
      out.push(
        `${title}: ${count(surplus.length)} samples are surplus and not counted (${listed(surplus.map(({ id, place }) => place ?? id))})`,
      );
    return out;
  });
  if (bad.length > 0)
    notes.push(
      `${count(bad.length)} rows are not usable (${listed(bad.map(({ place, message }) => `${place}: ${message}`))})`,
    );
  return notes;
}

const LISTED = 5;

function listed(names: readonly string[]): string {
  const more = names.length - LISTED;
  return `${names.slice(0, LISTED).join("; ")}${more > 0 ? `; and ${count(more)} more` : ""}`;
}
