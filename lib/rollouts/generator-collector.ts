import type { RolloutBatch } from "./batch.ts";
import { MAX_GENERATORS } from "./limits.ts";
import { type CreditedBatch, perStep } from "./pipeline.ts";
import { rocArea, separate } from "./ranking.ts";
import { Spread } from "../metrics/spread.ts";
import type { GeneratorSummary } from "./summary.ts";

const UNNAMED = "(no generator)";
const OTHERS = "(others)";

interface Entry {
  steps: Spread;
  outcomes: readonly [Spread, Spread];
  advantages: readonly [Spread, Spread];
  known: number;
  right: number;
}

/** @internal Collects the summaries of the models, batch by batch. */
export class GeneratorCollector {
  readonly #entries = new Map<string, Entry>();
  // Number of the model of each rollout, in the order of adding.
  readonly #modelOf: number[] = [];
  readonly #numbers = new Map<string, number>();

  add(batch: RolloutBatch, credited: readonly CreditedBatch[]): void {
    batch.rollouts.forEach(({ generator, steps }, i) => {
      const entry = this.#entry(generator ?? UNNAMED);
      const correct = batch.verifiable[i]!;
      entry.steps.add(steps.length);
      if (!Number.isNaN(correct)) {
        entry.known += 1;
        entry.right += correct;
      }
      credited.forEach((form, f) => {
        entry.outcomes[f]!.add(form.outcomes[i]!);
        entry.advantages[f]!.addAll(perStep(form.advantages, batch, i));
      });
    });
  }

  #entry(generator: string): Entry {
    const full = this.#entries.size >= MAX_GENERATORS && !this.#entries.has(generator);
    const name = full ? OTHERS : generator;
    let entry = this.#entries.get(name);
    if (entry === undefined) {
      const pair = () => [new Spread(), new Spread()] as const;
      entry = { steps: new Spread(), outcomes: pair(), advantages: pair(), known: 0, right: 0 };
      this.#entries.set(name, entry);
      this.#numbers.set(name, this.#numbers.size);
    }
    this.#modelOf.push(this.#numbers.get(name)!);
    return entry;
  }

  /** `outcomes`: per form and rollout; `correct`: per rollout 1, 0 or NaN. */
  summary(outcomes: readonly (readonly number[])[], correct: readonly number[]): GeneratorSummary[] {
    const models = [...this.#entries].map(([name, entry], model) => ({
      name,
      rollouts: entry.steps.count,
      known: entry.known,
      right: entry.right,
      steps: entry.steps.mean,
      forms: outcomes.map((values, f) => ({
        outcome: entry.outcomes[f]!.mean,
        advantage: entry.advantages[f]!.mean,
        area: this.#area(model, values, correct),
      })),
    }));
    return models.sort((a, b) => b.rollouts - a.rollouts);
  }

  #area(model: number, outcomes: readonly number[], correct: readonly number[]): number {
    const mine = (_: number, i: number) => this.#modelOf[i] === model;
    return rocArea(separate(outcomes.filter(mine), correct.filter(mine)));
  }
}
