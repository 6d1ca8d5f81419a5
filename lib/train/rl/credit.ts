import { gammaDecay, mean, minForm, product, strictMinForm, sum } from "../../credit/index.ts";
import type { Ragged } from "../../ragged.ts";
import type { TrainConfig } from "../config/schema.ts";

/** @internal Step rewards after credit assignment. */
export interface StepCredit {
  /** Per step; the reward-to-go of `rewards` is the return. */
  readonly rewards: Ragged<Float32Array>;
  /** Per response: its return. */
  readonly outcomes: Float32Array;
  /** Per step: weights of the soft minimum; for the other forms `undefined`. */
  readonly weights: Ragged<Float32Array> | undefined;
}

/** @internal Credits step rewards in the form that the config names. */
export function assignCredit(
  steps: Ragged<Float32Array>,
  stepEnds: Ragged<Int32Array>,
  { credit, creditTemperature, gamma, gammaBy }: TrainConfig["reward"],
): StepCredit {
  switch (credit) {
    case "min-form":
      return minForm(steps, { temperature: creditTemperature });
    case "gamma-decay":
      return {
        ...gammaDecay(steps, gammaBy === "step" ? { gamma } : { gamma, by: "token", stepEnds }),
        weights: undefined,
      };
    default:
      return { ...PLAIN[credit](steps), weights: undefined };
  }
}

const PLAIN = { "strict-min-form": strictMinForm, sum, mean, product };
