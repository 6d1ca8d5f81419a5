import { InputError } from "../../errors.ts";
import type { TrainConfig } from "./schema.ts";

interface Rule {
  readonly broken: (config: TrainConfig) => boolean;
  readonly says: (config: TrainConfig) => string;
}

/** @internal Whether a PRM gives rewards. */
export function usesPrm({ reward }: TrainConfig): boolean {
  return reward.mode === "prm" || reward.mode === "prm+vr";
}

/** @internal Whether the estimator compares the responses to a prompt with each other. */
export function comparesGroups({ algorithm }: TrainConfig): boolean {
  return !["gae", "reinforce++", "remax"].includes(algorithm.estimator);
}

// What no single key can say.
const RULES: readonly Rule[] = [
  {
    broken: ({ actor, rollout }) => (actor.miniBatch ?? 1) > rollout.prompts,
    says: ({ actor, rollout }) =>
      `actor.miniBatch: expected at most rollout.prompts = ${rollout.prompts}, got ${actor.miniBatch}`,
  },
  {
    broken: ({ critic, rollout }) => (critic.miniBatch ?? 1) > rollout.prompts,
    says: ({ critic, rollout }) =>
      `critic.miniBatch: expected at most rollout.prompts = ${rollout.prompts}, got ${critic.miniBatch}`,
  },
  {
    broken: ({ correction }) => correction.min > correction.max,
    says: ({ correction }) =>
      `correction.min: expected at most correction.max = ${correction.max}, got ${correction.min}`,
  },
  {
    broken: (config) =>
      usesPrm(config) && config.reward.credit === "product" && config.reward.prmEngine === "train",
    says: () => `reward.credit: "product" needs probabilities, and the engine's rewards are p(good) - p(bad)`,
  },
  {
    broken: (config) => config.rollout.n < 2 && comparesGroups(config),
    says: ({ algorithm }) => `rollout.n: expected at least 2, which ${algorithm.estimator} compares, got 1`,
  },
  {
    broken: (config) => config.online.enabled && !usesPrm(config),
    says: ({ reward }) => `online.enabled: expected a mode with a PRM, got reward.mode "${reward.mode}"`,
  },
  {
    broken: ({ kl }) => kl.controller === "adaptive" && kl.coefficient === 0,
    says: () => "kl.coefficient: expected more than 0 for the adaptive controller, got 0",
  },
  {
    // Beyond it the factor could become negative.
    broken: ({ kl, rollout }) => kl.controller === "adaptive" && 5 * kl.horizon < rollout.prompts * rollout.n,
    says: ({ kl, rollout }) =>
      `kl.horizon: expected at least a fifth of the ${rollout.prompts * rollout.n} responses of a step, got ${kl.horizon}`,
  },
];

/** @internal Throws for keys that do not go together. */
export function checkConfig(config: TrainConfig, source: string): void {
  const faults = RULES.filter(({ broken }) => broken(config)).map(({ says }) => says(config));
  if (faults.length > 0) throw new InputError("ERR_INPUT", `${source}: ${faults.join("\n")}`);
}
