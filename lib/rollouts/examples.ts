import type { RolloutBatch } from "./batch.ts";
import { type CreditedBatch, perStep } from "./pipeline.ts";
import { comparable } from "./ranking.ts";
import type { Rollout } from "./row.ts";

/** Why a pair of solutions stands in a report. */
export type ExampleKind = "disagree" | "opposite" | "plain";

/** A right and a wrong solution of one problem, with their numbers. */
export interface Example {
  /**
   * `"disagree"`: the chosen form prefers the right solution, sum-form the wrong one; `"opposite"`: the other way round;
   * `"plain"`: the first pair of the file, whatever the forms say.
   */
  readonly kind: ExampleKind;
  /** Group of the problem. */
  readonly group: string;
  /** The problem, where the file has it. */
  readonly question: string | undefined;
  /** Its right answer, where the file has it. */
  readonly answer: string | undefined;
  /** The right solution, then the wrong one. */
  readonly solutions: readonly ExampleSolution[];
}

/** One solution of an {@link Example}. */
export interface ExampleSolution {
  /** Id of the row, where it has one. */
  readonly id: string | undefined;
  /** Model that wrote it, where known. */
  readonly generator: string | undefined;
  /** Whether its answer is right, where known. */
  readonly correct: boolean | undefined;
  /** Index of the first wrong step, -1 for none, where known. */
  readonly firstError: number | undefined;
  /** Text of each step. */
  readonly steps: readonly string[];
  /** Reward of each step. */
  readonly rewards: readonly number[];
  /** Per form of credit; `weights` where the form has them. */
  readonly forms: readonly ExampleForm[];
}

/** The numbers of one solution under one form of credit. */
export interface ExampleForm {
  /** Process outcome of the solution. */
  readonly outcome: number;
  /** Weight of each step, summing to 1; undefined for forms without weights. */
  readonly weights: readonly number[] | undefined;
  /** Advantage of each step. */
  readonly advantages: readonly number[];
}

const LONGEST_TEXT = 6000;
const MOST_STEPS = 30;
const WANTED: Readonly<Record<ExampleKind, number>> = { disagree: 2, opposite: 1, plain: 1 };

interface Candidate {
  example: Example;
  gap: number;
}

/** @internal Keeps the pairs with the largest gap of each kind; earlier ones win ties. */
export class ExampleCollector {
  readonly #kept: Record<ExampleKind, Candidate[]> = { disagree: [], opposite: [], plain: [] };

  add(batch: RolloutBatch, forms: readonly [CreditedBatch, CreditedBatch]): void {
    const { groups, rollouts, verifiable } = batch;
    for (let begin = 0, end = 0; begin < groups.length; begin = end) {
      while (end < groups.length && groups[end] === groups[begin]) end += 1;
      const members = Array.from({ length: end - begin }, (_, i) => begin + i).filter((i) =>
        isShort(rollouts[i]!),
      );
      for (const right of members.filter((i) => verifiable[i] === 1)) {
        for (const wrong of members.filter((i) => verifiable[i] === 0))
          this.#offer(batch, forms, right, wrong);
      }
    }
  }

  #offer(
    batch: RolloutBatch,
    forms: readonly [CreditedBatch, CreditedBatch],
    right: number,
    wrong: number,
  ): void {
    const [chosen, sum] = forms.map(({ outcomes }) => comparable(outcomes[right]! - outcomes[wrong]!)) as [
      number,
      number,
    ];
    const offers: [ExampleKind, number][] = [["plain", 0]];
    if (chosen > 0 && sum < 0) offers.push(["disagree", gapOf(chosen, sum)]);
    if (chosen < 0 && sum > 0) offers.push(["opposite", gapOf(chosen, sum)]);
    for (const [kind, gap] of offers) {
      const kept = this.#kept[kind];
      if (kept.length >= WANTED[kind] && kept.at(-1)!.gap >= gap) continue;
      if (kept.some(({ example }) => example.group === batch.rollouts[right]!.group && kind === example.kind))
        continue;
      kept.push({ example: exampleOf(kind, batch, forms, [right, wrong]), gap });
      kept.sort((a, b) => b.gap - a.gap);
      kept.length = Math.min(kept.length, WANTED[kind]);
    }
  }

  /** Disagreeing pairs first; a pair is shown once. */
  examples(): Example[] {
    const all = [...this.#kept.disagree, ...this.#kept.opposite, ...this.#kept.plain].map(
      ({ example }) => example,
    );
    return all.filter((example, i) => all.findIndex((other) => other.group === example.group) === i);
  }
}

// How decided the chosen form is, to a tenth, and among equals how decided sum-form is.
function gapOf(chosen: number, sum: number): number {
  return 1e6 * Math.round(10 * Math.abs(chosen)) + Math.abs(sum);
}

function isShort({ steps }: Rollout): boolean {
  return (
    steps.length <= MOST_STEPS && steps.reduce((length, step) => length + step.length, 0) <= LONGEST_TEXT
  );
}

function exampleOf(
  kind: ExampleKind,
  batch: RolloutBatch,
  forms: readonly CreditedBatch[],
  members: readonly number[],
): Example {
  const { group, question, answer } = batch.rollouts[members[0]!]!;
  return { kind, group, question, answer, solutions: members.map((i) => solutionOf(batch, forms, i)) };
}

function solutionOf(batch: RolloutBatch, forms: readonly CreditedBatch[], i: number): ExampleSolution {
  const { id, generator, finalAnswerCorrect, firstError, steps, stepRewards } = batch.rollouts[i]!;
  return {
    id,
    generator,
    correct: finalAnswerCorrect,
    firstError,
    steps,
    rewards: stepRewards,
    forms: forms.map(({ outcomes, weights, advantages }) => ({
      outcome: outcomes[i]!,
      weights: weights && Array.from(weights.data.subarray(weights.offsets[i], weights.offsets[i + 1])),
      advantages: perStep(advantages, batch, i),
    })),
  };
}
