import { comparesGroups } from "../config/check.ts";
import type { TrainConfig } from "../config/schema.ts";
import type { Rollouts } from "./types.ts";

// Steps that are waited for; a shorter run is looked at when it ends.
const STEPS = 10;

/** @internal Looks at the first steps of a process for signs that a run cannot learn. */
export class IdleWatch {
  private steps = 0;
  private allCut = true;
  private allAlike = true;

  constructor(
    private readonly config: TrainConfig,
    private readonly warn: (message: string) => void,
  ) {}

  /** Takes a step in; `scores` has the reward of every response, NaN where it has none. */
  see(
    step: number,
    { promptOf, stopped }: Pick<Rollouts, "promptOf" | "stopped">,
    scores: Float32Array,
  ): void {
    if (this.steps === STEPS) return;
    this.steps++;
    this.allCut &&= stopped.every((own) => own === 0);
    this.allAlike &&= !this.differs(promptOf, scores);
    if (this.steps === STEPS) this.tell(step);
  }

  /** Says what there is to say of a run that was shorter; `step` is its last. */
  end(step: number): void {
    if (this.steps > 0 && this.steps < STEPS) this.tell(step);
  }

  private differs(promptOf: Int32Array, scores: Float32Array): boolean {
    const isGrouped = comparesGroups(this.config);
    const first = new Map<number, number>();
    return scores.some((score, row) => {
      if (Number.isNaN(score)) return false;
      const group = isGrouped ? promptOf[row]! : 0;
      if (!first.has(group)) first.set(group, score);
      return first.get(group) !== score;
    });
  }

  private tell(step: number): void {
    const { maxTokens } = this.config.rollout;
    const when = this.steps === 1 ? `step ${step}` : `steps ${step - this.steps + 1} to ${step}`;
    if (this.allCut) {
      this.warn(
        `${when}: every response reached rollout.maxTokens = ${maxTokens} without stopping: is it too few, or are ` +
          "rollout.stopIds and rollout.stop not what the model ends with?",
      );
    }
    if (this.allAlike) {
      const which = comparesGroups(this.config) ? "to any prompt" : "of any step";
      this.warn(`${when}: no two responses ${which} had different rewards: there is nothing to learn from`);
    }
  }
}
