import { row as rowOf } from "../ragged.ts";
import type { RolloutBatch } from "./batch.ts";
import { type CreditedBatch, perStep } from "./pipeline.ts";
import { addPolicySums, type PolicySums, policySummary } from "./policy.ts";
import { histogram, rocArea, rocCurve, separate } from "./ranking.ts";
import type { Rollout } from "./row.ts";
import { Slope, Spread } from "../metrics/spread.ts";
import type { ErrorOffsetSummary, FormSummary, StepCountSummary } from "./summary.ts";

const ERROR_REACH = 5;
const MOST_STEPS = 200;

/** @internal Whether a rollout has no wrong step; where steps are not labelled, whether its answer is right. */
export function isSound({ firstError, finalAnswerCorrect }: Rollout): boolean | undefined {
  return firstError === undefined ? finalAnswerCorrect : firstError === -1;
}

/** @internal Spreads for all, right and wrong answers. */
export class SpreadByAnswer {
  readonly all = new Spread();
  readonly right = new Spread();
  readonly wrong = new Spread();

  /** `correct`: 1, 0 or NaN. */
  add(value: number, correct: number): void {
    this.all.add(value);
    if (correct === 1) this.right.add(value);
    if (correct === 0) this.wrong.add(value);
  }

  summary() {
    return { all: this.all.summary(), right: this.right.summary(), wrong: this.wrong.summary() };
  }
}

/** @internal Collects the summary of one form of credit, batch by batch. */
export class FormCollector {
  /** Process outcome of each rollout, in the order of adding. */
  readonly outcomes: number[] = [];
  readonly #outcome = new SpreadByAnswer();
  readonly #score = new Spread();
  readonly #returns = new Spread();
  readonly #advantages = new Spread();
  readonly #slope = new Slope();
  readonly #pairs = { pairs: 0, rightHigher: 0, ties: 0 };
  readonly #bySteps = new Map<number, { sound: Spread; faulty: Spread }>();
  readonly #aroundError = new Map<number, Spread>();
  #policy: PolicySums | undefined;

  add(batch: RolloutBatch, credited: CreditedBatch): void {
    batch.rollouts.forEach((rollout, i) => {
      const outcome = credited.outcomes[i]!;
      this.outcomes.push(outcome);
      this.#outcome.add(outcome, batch.verifiable[i]!);
      this.#score.add(rowOf(credited.returns, i)[0] ?? 0);
      this.#addSteps(rollout, outcome);
      if (rollout.firstError !== undefined && rollout.firstError >= 0) {
        this.#addAroundError(rollout.firstError, perStep(credited.advantages, batch, i));
      }
    });
    this.#returns.addAll(credited.returns.data);
    this.#advantages.addAll(credited.advantages.data);
    this.#addPairs(batch, credited.outcomes);
    if (credited.policy !== undefined) this.#policy = addPolicySums(this.#policy, credited.policy);
  }

  #addSteps(rollout: Rollout, outcome: number): void {
    const sound = isSound(rollout);
    if (sound === undefined) return;
    const steps = rollout.steps.length;
    if (sound) this.#slope.add(steps, outcome);
    const key = Math.min(steps, MOST_STEPS);
    const entry = this.#bySteps.get(key) ?? { sound: new Spread(), faulty: new Spread() };
    this.#bySteps.set(key, entry);
    entry[sound ? "sound" : "faulty"].add(outcome);
  }

  #addAroundError(firstError: number, advantages: readonly number[]): void {
    advantages.forEach((advantage, k) => {
      const offset = k - firstError;
      if (Math.abs(offset) > ERROR_REACH) return;
      const spread = this.#aroundError.get(offset) ?? new Spread();
      this.#aroundError.set(offset, spread);
      spread.add(advantage);
    });
  }

  // Rollouts of a group stand together in a batch.
  #addPairs({ groups, verifiable }: RolloutBatch, outcomes: Float64Array): void {
    for (let begin = 0, end = 0; begin < groups.length; begin = end) {
      while (end < groups.length && groups[end] === groups[begin]) end += 1;
      const { right, wrong } = separate(outcomes.subarray(begin, end), verifiable.subarray(begin, end));
      for (const a of right) {
        for (const b of wrong) {
          this.#pairs.pairs += 1;
          if (a > b) this.#pairs.rightHigher += 1;
          if (a === b) this.#pairs.ties += 1;
        }
      }
    }
  }

  summary(form: FormSummary["form"], correct: readonly number[]): FormSummary {
    const separation = separate(this.outcomes, correct);
    const policy = policySummary(this.#policy);
    return {
      form,
      outcome: this.#outcome.summary(),
      score: this.#score.summary(),
      returns: this.#returns.summary(),
      advantages: this.#advantages.summary(),
      area: rocArea(separation),
      roc: rocCurve(separation),
      histogram: histogram(separation),
      pairs: { ...this.#pairs },
      outcomePerStep: this.#slope.value,
      bySteps: this.#stepCounts(),
      aroundError: this.#errorOffsets(),
      ...(policy && { policy }),
    };
  }

  #stepCounts(): StepCountSummary[] {
    return [...this.#bySteps]
      .map(([steps, { sound, faulty }]) => ({ steps, sound: sound.summary(), faulty: faulty.summary() }))
      .sort((a, b) => a.steps - b.steps);
  }

  #errorOffsets(): ErrorOffsetSummary[] {
    return [...this.#aroundError]
      .map(([offset, spread]) => ({ offset, advantage: spread.summary() }))
      .sort((a, b) => a.offset - b.offset);
  }
}
