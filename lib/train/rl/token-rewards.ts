import { combineRewards, klReward } from "../../advantage/index.ts";
import { placeSteps, returns } from "../../credit/index.ts";
import type { Ragged } from "../../ragged.ts";
import type { TrainConfig } from "../config/schema.ts";
import type { StepCredit } from "./credit.ts";
import type { Rewards } from "./rewards.ts";

/** @internal A KL penalty inside the rewards. */
export interface KlInReward {
  readonly values: Ragged<Float32Array>;
  readonly coefficient: number;
}

/** @internal What the estimators start from. */
export interface Scored {
  readonly config: TrainConfig;
  /** Token rows of the responses. */
  readonly offsets: Int32Array;
  readonly rewards: Rewards;
  readonly credit: StepCredit | undefined;
  readonly kl: KlInReward | undefined;
  /** One per token: 0 where a response is left out; absent when none is. */
  readonly mask: Uint8Array | undefined;
}

/** @internal `base + factor addend`, element by element. */
export function addScaled(
  base: Ragged<Float32Array>,
  factor: number,
  addend: Ragged<Float32Array>,
): Ragged<Float32Array> {
  return klReward(base, addend, { coefficient: -factor });
}

/** @internal Values times a factor. */
export function scaled(values: Ragged<Float32Array>, factor: number): Ragged<Float32Array> {
  if (factor === 1) return values;
  return addScaled({ ...values, data: new Float32Array(values.data.length) }, factor, values);
}

/** @internal All rewards on the tokens that they belong to, the KL penalty taken off. */
export function tokenRewards({ config, offsets, rewards, credit, kl, mask }: Scored): Ragged<Float32Array> {
  const { prmCoefficient, verifiableCoefficient, verifiableCoding } = config.reward;
  const counted = mask === undefined ? {} : { mask };
  let all: Ragged<Float32Array> = { data: new Float32Array(offsets.at(-1)!), offsets };
  if (credit !== undefined) {
    all = placeSteps(scaled(credit.rewards, prmCoefficient), rewards.stepEnds, offsets, counted);
  }
  if (rewards.tokens !== undefined) all = addScaled(all, 1, rewards.tokens);
  if (config.reward.mode !== "prm" && rewards.tokens === undefined) {
    all = combineRewards({
      process: all,
      verifiable: rewards.verified,
      coefficient: verifiableCoefficient,
      verifiableCoding,
      ...counted,
    });
  }
  return kl === undefined ? all : klReward(all, kl.values, { coefficient: kl.coefficient, ...counted });
}

/** @internal What each response is worth in all, without the KL penalty; NaN where nothing is known. */
export function outcomes({ config, offsets, rewards, credit }: Scored): Float32Array {
  const { mode, prmCoefficient, verifiableCoefficient, verifiableCoding } = config.reward;
  if (rewards.tokens !== undefined) return firsts(returns(rewards.tokens), offsets);
  const wrong = verifiableCoding === "zero-one" ? 0 : -1;
  return rewards.verified.map((verified, row) => {
    const process = credit === undefined ? 0 : prmCoefficient * credit.outcomes[row]!;
    if (mode === "prm") return process;
    if (Number.isNaN(verified)) return mode === "vr" ? Number.NaN : process;
    return process + verifiableCoefficient * (verified + wrong);
  });
}

/** @internal Outcomes less the KL penalty of the whole response; those of responses left out are NaN. */
export function penalisedOutcomes(scored: Scored): Float32Array {
  const { offsets, kl, mask } = scored;
  const values = outcomes(scored);
  const penalties = kl && firsts(returns(kl.values), offsets);
  return values.map((value, row) => {
    if (mask !== undefined && mask[offsets[row]!] === 0) return Number.NaN;
    return penalties === undefined ? value : value - kl!.coefficient * penalties[row]!;
  });
}

function firsts({ data }: Ragged<Float32Array>, offsets: Int32Array): Float32Array {
  return Float32Array.from({ length: offsets.length - 1 }, (_, row) =>
    offsets[row + 1]! > offsets[row]! ? data[offsets[row]!]! : 0,
  );
}
