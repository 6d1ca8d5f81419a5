import type { GroupStats } from "../advantage/index.ts";
import { repetitionScores } from "../metrics/index.ts";
import type { RolloutBatch } from "./batch.ts";
import { FormCollector, SpreadByAnswer } from "./form-collector.ts";
import { GeneratorCollector } from "./generator-collector.ts";
import type { CreditedBatch } from "./pipeline.ts";
import type { RolloutIndex } from "./scan.ts";
import { Spread } from "../metrics/spread.ts";
import type { RolloutSummary } from "./summary.ts";

/** @internal Collects the summary of a file, batch by batch; keeps a few numbers per rollout, no text. */
export class SummaryCollector {
  readonly #correct: number[] = [];
  readonly #forms = [new FormCollector(), new FormCollector()] as const;
  readonly #generators = new GeneratorCollector();
  readonly #groupSize = new Spread();
  readonly #steps = new Spread();
  readonly #length = new SpreadByAnswer();
  readonly #stepReward = new Spread();
  readonly #repetition = new SpreadByAnswer();
  readonly #answers = { known: 0, right: 0, groups: 0, solvedGroups: 0 };
  #groupStats: GroupStats = { groups: 0, singletons: 0, zeroVariance: 0, excluded: 0 };
  #formNames: [CreditedBatch["form"], CreditedBatch["form"]] | undefined;
  #unit: "token" | "step" = "step";

  add(batch: RolloutBatch, credited: readonly [CreditedBatch, CreditedBatch]): void {
    const { rollouts, verifiable, offsets } = batch;
    this.#unit = rollouts[0]!.tokens === undefined ? "step" : "token";
    this.#formNames = [credited[0].form, credited[1].form];
    for (const [f, collector] of this.#forms.entries()) collector.add(batch, credited[f]!);
    this.#generators.add(batch, credited);
    const repetition = repetitionScores(rollouts.map(({ steps }) => steps.join("\n\n")));
    rollouts.forEach((rollout, i) => {
      this.#correct.push(verifiable[i]!);
      this.#steps.add(rollout.steps.length);
      this.#length.add(offsets[i + 1]! - offsets[i]!, verifiable[i]!);
      this.#repetition.add(repetition[i]!, verifiable[i]!);
    });
    this.#stepReward.addAll(batch.stepRewards.data);
    this.#addGroups(batch);
    this.#groupStats = addStats(this.#groupStats, credited[0].stats);
  }

  #addGroups({ groups, verifiable }: RolloutBatch): void {
    for (let begin = 0, end = 0; begin < groups.length; begin = end) {
      while (end < groups.length && groups[end] === groups[begin]) end += 1;
      const known = verifiable.subarray(begin, end).filter((correct) => !Number.isNaN(correct));
      const right = known.reduce((count, correct) => count + correct, 0);
      this.#groupSize.add(end - begin);
      this.#answers.known += known.length;
      this.#answers.right += right;
      this.#answers.groups += Number(known.length > 0);
      this.#answers.solvedGroups += Number(right > 0);
    }
  }

  summary({ badLines, badLineCount }: RolloutIndex): RolloutSummary {
    const { known, right, groups, solvedGroups } = this.#answers;
    const [chosen, sum] = this.#formNames!;
    const outcomes = this.#forms.map((form) => form.outcomes);
    return {
      rollouts: this.#correct.length,
      groups: this.#groupSize.count,
      badLines,
      badLineCount,
      unit: this.#unit,
      groupSize: this.#groupSize.summary(),
      groupStats: this.#groupStats,
      answers: { known, right, groups, passAtN: solvedGroups / groups },
      steps: this.#steps.summary(),
      length: this.#length.summary(),
      stepReward: this.#stepReward.summary(),
      repetition: this.#repetition.summary(),
      forms: [this.#forms[0].summary(chosen, this.#correct), this.#forms[1].summary(sum, this.#correct)],
      generators: this.#generators.summary(outcomes, this.#correct),
    };
  }
}

function addStats(a: GroupStats, b: GroupStats): GroupStats {
  return {
    groups: a.groups + b.groups,
    singletons: a.singletons + b.singletons,
    zeroVariance: a.zeroVariance + b.zeroVariance,
    excluded: a.excluded + b.excluded,
  };
}
