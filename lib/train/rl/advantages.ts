import {
  combineAdvantages,
  gae,
  grpo,
  grpoPassK,
  opo,
  optimalTokenBaseline,
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  remax,
  rloo,
  whiten,
} from "../../advantage/index.ts";
import type { Ragged } from "../../ragged.ts";
import {
  addScaled,
  outcomes,
  penalisedOutcomes,
  type Scored,
  scaled,
  tokenRewards,
} from "./token-rewards.ts";

/** @internal What some estimators need besides rewards. */
export interface Baselines {
  /** Group of each response. */
  readonly groups: Int32Array;
  /** `gae`: value of the state before every token. */
  readonly values?: Ragged<Float32Array>;
  /** `gae`: value of the state after a truncated response, 0 for the others. */
  readonly bootstrap?: Float32Array;
  /** `optimal-token-baseline`: what the policy gave to each token, and the sum of its squared probabilities there. */
  readonly policy?: {
    readonly logProbs: Ragged<Float32Array>;
    readonly sumSquaredProbs: Ragged<Float32Array>;
  };
  /** `remax`: outcome of the greedy response to the same prompt, one per response. */
  readonly greedy?: Float32Array;
}

/** @internal Advantages of a step. */
export interface Estimate {
  /** Per token, normalised. */
  readonly advantages: Ragged<Float32Array>;
  /** Per token: what the advantages were made from, and what a critic learns. */
  readonly returns: Ragged<Float32Array>;
}

/** @internal Advantages by the estimator that the config names. */
export function estimateAdvantages(scored: Scored, baselines: Baselines): Estimate {
  const { advantages, returns } = estimate(scored, baselines);
  const { normalize } = scored.config.algorithm;
  if (normalize === "none") return { advantages, returns };
  const counted = scored.mask === undefined ? {} : { mask: scored.mask };
  return { advantages: whiten(advantages, { shiftMean: normalize === "whiten", ...counted }), returns };
}

function estimate(scored: Scored, baselines: Baselines): Estimate {
  const { algorithm } = scored.config;
  const counted = scored.mask === undefined ? {} : { mask: scored.mask };
  const { gamma, lambda } = algorithm;
  // Whitening is `normalize`'s business, whatever the estimator.
  const plain = { whiten: false, ...counted };
  switch (algorithm.estimator) {
    case "rloo":
      return leaveOneOut(scored, baselines.groups);
    case "gae": {
      const { values, bootstrap } = baselines;
      const more = bootstrap === undefined ? {} : { bootstrapValues: bootstrap };
      return gae(tokenRewards(scored), values!, { gamma, lambda, ...counted, ...more });
    }
    case "reinforce++":
      return reinforcePlusPlus(tokenRewards(scored), { gamma, ...plain });
    case "optimal-token-baseline":
      return optimalTokenBaseline(tokenRewards(scored), {
        ...baselines.policy!,
        groups: baselines.groups,
        gamma,
        ...counted,
      });
    case "remax":
      return remax(tokenRewards(scored), baselines.greedy!, counted);
    case "reinforce++-baseline": {
      const values = penalisedOutcomes(scored);
      return reinforcePlusPlusBaseline(values, baselines.groups, scored.offsets, {
        unscorable: "exclude",
        ...plain,
      });
    }
    default:
      return perResponse(scored, baselines.groups, algorithm.estimator);
  }
}

function perResponse(
  scored: Scored,
  groups: Int32Array,
  estimator: "grpo" | "dr-grpo" | "grpo-passk" | "opo",
): Estimate {
  const { offsets } = scored;
  const values = penalisedOutcomes(scored);
  const options = { unscorable: "exclude" } as const;
  const lengths = Array.from(values, (_, row) => offsets[row + 1]! - offsets[row]!);
  const { advantages } = {
    grpo: () => grpo(values, groups, options),
    "dr-grpo": () => grpo(values, groups, { ...options, std: "none" }),
    "grpo-passk": () => grpoPassK(values, groups, options),
    opo: () => opo(values, lengths, groups, options),
  }[estimator]();
  const everywhere = onEveryToken(scored, advantages);
  return { advantages: everywhere, returns: everywhere };
}

// Process and verifiable rewards each have a baseline of their own: credit never mixes with an outcome.
function leaveOneOut(scored: Scored, groups: Int32Array): Estimate {
  const { config, offsets, rewards, credit, kl, mask } = scored;
  const { prmCoefficient, verifiableCoefficient } = config.reward;
  const { baseline } = config.algorithm;
  const common = {
    baseline,
    ...(mask === undefined ? {} : { mask }),
    ...(kl === undefined ? {} : { kl: { ...kl, placement: config.kl.placement } }),
  };
  let result: Estimate;
  if (credit !== undefined) {
    const steps = { rewards: scaled(credit.rewards, prmCoefficient), stepEnds: rewards.stepEnds, offsets };
    result = rloo(steps, groups, { ...common, returns: true });
  } else {
    const tokens = rewards.tokens ?? { data: new Float32Array(offsets.at(-1)!), offsets };
    result = rloo(tokens, groups, { ...common, stepEnds: rewards.stepEnds });
  }
  if (config.reward.mode === "prm" || rewards.tokens !== undefined) return result;
  const known = rewards.verified.map((value, row) =>
    mask !== undefined && mask[offsets[row]!] === 0 ? Number.NaN : value,
  );
  const { advantages } = rloo(known, groups, { unscorable: "exclude" });
  const counted = mask === undefined ? {} : { mask };
  return {
    advantages: combineAdvantages({
      tokens: result.advantages,
      responses: advantages,
      coefficient: verifiableCoefficient,
      ...counted,
    }),
    returns: addScaled(
      result.returns,
      verifiableCoefficient,
      onEveryToken(
        scored,
        known.map((value) => (Number.isNaN(value) ? 0 : value)),
      ),
    ),
  };
}

function onEveryToken({ offsets, mask }: Scored, values: Float32Array): Ragged<Float32Array> {
  const zeros = { data: new Float32Array(offsets.at(-1)!), offsets };
  const counted = mask === undefined ? {} : { mask };
  return combineAdvantages({ tokens: zeros, responses: values, ...counted });
}

/** @internal Outcomes for the metrics: without and with the KL penalty. */
export function scoresOf(scored: Scored): { readonly scores: Float32Array; readonly rewards: Float32Array } {
  return { scores: outcomes(scored), rewards: penalisedOutcomes(scored) };
}
