import type { AdvantagesResults, FormSummary, PolicySummary, SpreadSummary } from "../rollouts/index.ts";
import { count, decimal, percent } from "./numbers.ts";

/** @internal A line of the metrics: a name, and a value for all or one per form of credit. */
export interface MetricRow {
  readonly name: string;
  readonly values: readonly [string] | readonly [string, string];
}

/** @internal Rows under one heading. */
export interface MetricSection {
  readonly title: string;
  readonly rows: readonly MetricRow[];
}

/** @internal The metrics that terminal and report show, in words. */
export function metricSections({ summary, settings }: AdvantagesResults): MetricSection[] {
  const { answers, unit, length, repetition, groupStats, groupSize, forms } = summary;
  const known = answers.known > 0;
  const byAnswer = ({ right, wrong }: { right: SpreadSummary; wrong: SpreadSummary }, digits: number) =>
    known ? ` (right ${decimal(right.mean, digits)}, wrong ${decimal(wrong.mean, digits)})` : "";
  const rollouts: MetricRow[] = [
    one("rollouts, groups", `${count(summary.rollouts)}, ${count(summary.groups)}`),
    one("rollouts per group", `${decimal(groupSize.mean)} (${groupSize.min} to ${groupSize.max})`),
    one(
      "groups of one; of equal returns",
      `${count(groupStats.singletons)}; ${count(groupStats.zeroVariance)}`,
    ),
    one("bad lines skipped", count(summary.badLineCount)),
    one(
      "right answers",
      known ? `${percent(answers.right / answers.known, 1)} of ${count(answers.known)}` : "not known",
    ),
    one("pass@n", known ? `${percent(answers.passAtN, 1)} of ${count(answers.groups)} groups` : "not known"),
    one("steps", spread(summary.steps)),
    one(`length in ${unit}s`, `${spread(length.all, 1)}${byAnswer(length, 1)}`),
    one("step reward", spread(summary.stepReward)),
    one("repetition score", `${spread(repetition.all, 3)}${byAnswer(repetition, 3)}`),
  ];
  const both = (name: string, show: (form: FormSummary) => string): MetricRow => ({
    name,
    values: [show(forms[0]), show(forms[1])],
  });
  const credit: MetricRow[] = [
    both("process outcome", ({ outcome }) => spread(outcome.all)),
    ...(known
      ? [
          both(
            "  right; wrong answers",
            ({ outcome }) => `${decimal(outcome.right.mean)}; ${decimal(outcome.wrong.mean)}`,
          ),
        ]
      : []),
    ...(known ? [one("verifiable reward", verifiable(answers.right / answers.known, settings))] : []),
    both("score (outcome + verifiable)", ({ score }) => spread(score)),
    both(`returns, per ${unit}`, ({ returns }) => spread(returns)),
    both(`advantages, per ${unit}`, ({ advantages }) => spread(advantages)),
    both("AUC: outcome against right answers", ({ area }) => decimal(area, 3)),
    both("right above wrong, same group", pairShare),
    both("outcome gained per extra sound step", ({ outcomePerStep }) => decimal(outcomePerStep, 3)),
  ];
  const sections: MetricSection[] = [
    { title: "Rollouts", rows: rollouts },
    { title: "Credit", rows: credit },
  ];
  if (forms[0].policy && forms[1].policy) {
    sections.push({ title: "PPO loss", rows: policyRows(forms[0].policy, forms[1].policy) });
  }
  return sections;
}

function one(name: string, value: string): MetricRow {
  return { name, values: [value] };
}

function spread({ count: n, mean, min, max }: SpreadSummary, digits = 2): string {
  const ends = Number.isInteger(min) && Number.isInteger(max) ? 0 : digits;
  return n === 0 ? "-" : `${decimal(mean, digits)} (${decimal(min, ends)} to ${decimal(max, ends)})`;
}

function verifiable(share: number, { verifiableCoding, coefficient }: AdvantagesResults["settings"]): string {
  const mean = verifiableCoding === "zero-one" ? share : share - 1;
  return `${decimal(mean)} (coded ${verifiableCoding}, coefficient ${coefficient})`;
}

/** @internal Share of pairs in which the right solution has the higher outcome, a tie counting half. */
export function pairAgreement({ pairs: { pairs, rightHigher, ties } }: FormSummary): number {
  return (rightHigher + ties / 2) / pairs;
}

function pairShare(form: FormSummary): string {
  const { pairs, ties } = form.pairs;
  if (pairs === 0) return "-";
  return `${percent(pairAgreement(form), 1)} (${percent(ties / pairs)} ties)`;
}

function policyRows(chosen: PolicySummary, sum: PolicySummary): MetricRow[] {
  const rows: MetricRow[] = [
    { name: "loss, token mean", values: [decimal(chosen.loss, 5), decimal(sum.loss, 5)] },
    { name: "clipped tokens", values: [percent(chosen.clipFraction, 2), percent(sum.clipFraction, 2)] },
    one(
      "ratio",
      `${decimal(chosen.meanRatio, 4)} (${decimal(chosen.minRatio, 3)} to ${decimal(chosen.maxRatio, 3)})`,
    ),
    one("KL(old || new), k1; k3", `${decimal(chosen.approxKl, 6)}; ${decimal(chosen.approxKlK3, 6)}`),
  ];
  if (chosen.referenceKl !== undefined)
    rows.push(one("KL(new || reference), k3", decimal(chosen.referenceKl, 6)));
  return rows;
}
