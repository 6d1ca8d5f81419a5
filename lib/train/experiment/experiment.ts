import type { TrainConfig } from "../config/schema.ts";
import type { PrmConfig } from "../prm/config.ts";
import type { SftConfig } from "../sft/config.ts";

/**
 * A step before the runs, done once per seed. Its model is `setup:<as>` in what follows: in later steps and in the configs
 * of runs.
 */
export type SetupStep = SftStep | PrmStep;

/** Fine-tuning before the runs. */
export interface SftStep {
  /** Its name in references. */
  readonly as: string;
  /** Its config. */
  readonly sft: SftConfig;
}

/** PRM training before the runs. */
export interface PrmStep {
  /** Its name in references. */
  readonly as: string;
  /** Its config. */
  readonly trainPrm: PrmConfig;
}

/** A matrix of runs: every setting with every seed. */
export interface Experiment {
  /** Title of its report. */
  readonly name: string;
  /** Each is the seed of its set-up and of its runs. */
  readonly seeds: readonly number[];
  /** In their order. */
  readonly setup: readonly SetupStep[];
  /** Settings by name, each with its whole config but for the seed. */
  readonly runs: Readonly<Record<string, TrainConfig>>;
}

/** @internal Of values in an experiment's config: a name of a set-up step instead of a path. */
const REFERENCE = /^setup:(.*)$/;

/** @internal A copy of JSON with every reference to a set-up step replaced. */
export function withModels<T>(value: T, modelOf: (step: string) => string): T {
  const replaced = (inner: unknown): unknown => {
    if (typeof inner === "string") {
      const name = REFERENCE.exec(inner)?.[1];
      return name === undefined ? inner : modelOf(name);
    }
    if (Array.isArray(inner)) return inner.map(replaced);
    if (inner === null || typeof inner !== "object") return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, some]) => [key, replaced(some)]));
  };
  return replaced(value) as T;
}

/** @internal Whether a text names a set-up step. */
export function isReference(text: string): boolean {
  return REFERENCE.test(text);
}
