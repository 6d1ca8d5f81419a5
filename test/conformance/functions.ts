// How each key of a case file is computed with the presets.
import { type FloatArray, type PaddedPolicyLoss, presets } from "../../lib/index.ts";
import type { Case } from "./case-file.ts";
import type { Key } from "./key.ts";

/** Results under the names of the file. Arrays are `[rows, width]` and compared under the mask. */
export interface Results {
  [name: string]: FloatArray | number | Results;
}

/** What a key gives: results by name, or one array under no name. */
export interface Outcome {
  results: Results | FloatArray;
  /** Results that a standard deviation divides: how much a rounding of what it divides grows. */
  amplification?: { [name: string]: number };
}

type Compute = (key: Key, inputs: Case) => Outcome;

const { pureVerl, pureOpenRlhf, verl } = presets;

export const functions: Record<string, Compute> = {
  "pure.min_form"(key, inputs) {
    const { weights, tokenRewards } = minForm(inputs, key.requiredNumber("T"));
    return { results: { weights, token_rewards: tokenRewards } };
  },

  "pure_verl.rloo"(key, inputs) {
    const rewards = rewardStream(key.next(), inputs);
    const returnAggregateMethod = key.choice("sum", "min");
    const advNorm = key.flag("norm");
    const batch = { ...inputs.shape, tokenLevelRewards: rewards, index: inputs.group };
    const results = pureVerl.computeRlooOutcomeAdvantage(batch, { returnAggregateMethod, advNorm });
    return {
      results: { ...results },
      ...(advNorm && { amplification: { advantages: whitening(results.returns, inputs) } }),
    };
  },

  "pure_openrlhf.rewards"(key, inputs) {
    const rewardMode = key.choice("PRM", "VR", "PRMVR");
    const rewardBaseline = key.choice("step", "token");
    const token_rewards = pureOpenRlhf.processExperiences(
      {
        ...inputs.shape,
        processRewards: minForm(inputs, 0.1).tokenRewards,
        stepEndMask: inputs.stepEndMask,
        solved: inputs.input("outcome_reward"),
        index: inputs.group,
      },
      { rewardMode, rewardBaseline },
    );
    return { results: { token_rewards } };
  },

  "pure_verl.policy_loss"(key, inputs) {
    const { loss, clipFraction, ppoKl, gradLogProbs } = pureVerl.computePolicyLoss(policyBatch(inputs), {
      clipRange: key.requiredNumber("clip"),
    });
    return { results: { loss, clipfrac: clipFraction, ppo_kl: ppoKl, grad_log_probs: gradLogProbs } };
  },

  "verl.policy_loss"(key, inputs) {
    const kind = key.choice("vanilla", "gspo", "sapo", "gpg", "geo_mean", "cispo");
    const lossAggMode = key.choice(
      "token-mean",
      "seq-mean-token-sum",
      "seq-mean-token-mean",
      "seq-mean-token-sum-norm",
    );
    const options = given({
      clipRatio: key.number("clip"),
      clipRatioLow: key.number("low"),
      clipRatioHigh: key.number("high"),
      clipRatioC: key.number("c"),
      tauPos: key.number("tau_pos"),
      tauNeg: key.number("tau_neg"),
    });
    const result = verl.getPolicyLossFn(kind)(policyBatch(inputs), { lossAggMode, ...options });
    return {
      results: { loss: result.loss, metrics: verlMetrics(result), grad_log_probs: result.gradLogProbs },
    };
  },

  "verl.grpo"(key, inputs) {
    const normAdvByStdInGrpo = key.choice("std", "no_std") === "std";
    const options = given({ epsilon: key.number("epsilon") });
    return {
      results: { ...verl.computeGrpoOutcomeAdvantage(outcomes(inputs), { normAdvByStdInGrpo, ...options }) },
      ...(normAdvByStdInGrpo && { amplification: groupAmplification(inputs, options.epsilon ?? 1e-6) }),
    };
  },

  "verl.grpo_passk"(key, inputs) {
    const options = given({ epsilon: key.number("epsilon") });
    const rewards = inputs.input("token_rewards");
    const bonus = Array.from(rewards, (r, i) => (r === 0 ? 0 : r + 0.001 * Math.floor(i / inputs.width)));
    const batch = { ...outcomes(inputs), tokenLevelRewards: inputs.array(bonus) };
    return {
      results: { ...verl.computeGrpoPasskOutcomeAdvantage(batch, options) },
      amplification: groupAmplification(inputs, options.epsilon ?? 1e-6),
    };
  },

  "verl.rloo": (_, inputs) => ({ results: { ...verl.computeRlooOutcomeAdvantage(outcomes(inputs)) } }),
  "verl.rloo_vectorized": (_, inputs) => ({
    results: { ...verl.computeRlooVectorizedOutcomeAdvantage(outcomes(inputs)) },
  }),
  "verl.opo": (_, inputs) => ({ results: { ...verl.computeOpoOutcomeAdvantage(outcomes(inputs)) } }),
  "verl.gpg": (_, inputs) => ({ results: { ...verl.computeGpgOutcomeAdvantage(outcomes(inputs)) } }),

  "verl.reinforce_plus_plus_baseline"(_, inputs) {
    const centred = verl.computeGrpoOutcomeAdvantage(outcomes(inputs), { normAdvByStdInGrpo: false });
    return {
      results: { ...verl.computeReinforcePlusPlusBaselineOutcomeAdvantage(outcomes(inputs)) },
      amplification: { advantages: whitening(centred.advantages, inputs) },
    };
  },

  "verl.reinforce_plus_plus"(key, inputs) {
    const gamma = key.requiredNumber("gamma");
    const results = verl.computeReinforcePlusPlusOutcomeAdvantage(outcomes(inputs), { gamma });
    return { results: { ...results }, amplification: { advantages: whitening(results.returns, inputs) } };
  },

  "verl.remax"(key, inputs) {
    const rewardBaselines = inputs.perRow(key.requiredNumber("baseline"));
    return { results: { ...verl.computeRemaxOutcomeAdvantage({ ...outcomes(inputs), rewardBaselines }) } };
  },

  "verl.gae"(key, inputs) {
    const options = { gamma: key.requiredNumber("gamma"), lam: key.requiredNumber("lam") };
    const values = inputs.input("values");
    const results = verl.computeGaeAdvantageReturn({ ...outcomes(inputs), values }, options);
    const before = Float64Array.from(results.returns, (value, i) => value - values[i]!);
    return { results: { ...results }, amplification: { advantages: whitening(before, inputs) } };
  },

  "verl.kl"(key, inputs) {
    const { values, gradLogProbs } = verl.klPenalty(
      { ...inputs.shape, logProbs: inputs.input("log_probs"), refLogProbs: inputs.input("ref_log_probs") },
      { klPenalty: key.next() },
    );
    return { results: { kl: values, grad_log_probs_of_masked_sum: gradLogProbs } };
  },

  "verl.value_loss"(key, inputs) {
    const { loss, clipFraction, gradValues } = verl.computeValueLoss(
      {
        ...inputs.shape,
        vpreds: inputs.input("value_preds"),
        values: inputs.input("values"),
        returns: inputs.input("returns"),
      },
      { cliprangeValue: key.requiredNumber("clip") },
    );
    return { results: { loss, clipfrac: clipFraction, grad_value_preds: gradValues } };
  },

  "verl.masked_whiten"(key, inputs) {
    const values = inputs.input(key.next());
    return {
      results: verl.maskedWhiten({ ...inputs.shape, values }),
      amplification: { "": whitening(values, inputs) },
    };
  },
};

function minForm(inputs: Case, temperature: number) {
  return pureVerl.minForm(
    { ...inputs.shape, processRewards: inputs.input("process_rewards"), stepEndMask: inputs.stepEndMask },
    { temperature },
  );
}

// `min_form_<T>`, `raw_process` or `outcome`, each with `+vr` for the verifiable reward at the last token.
function rewardStream(name: string, inputs: Case): FloatArray {
  const match = /^(?:min_form_(?<T>[\d.eE+-]*\d)|(?<plain>raw_process|outcome))(?<vr>\+vr)?$/.exec(name);
  if (match === null) throw new Error(`unknown rewards ${name}`);
  const { T, plain, vr } = match.groups!;
  const rewards =
    T !== undefined
      ? minForm(inputs, Number(T)).tokenRewards
      : inputs.input(plain === "outcome" ? "token_rewards" : "process_rewards");
  if (vr === undefined) return rewards;
  const verifiableRewards = inputs.input("outcome_reward");
  return pureVerl.addVerifiableReward({ ...inputs.shape, tokenLevelRewards: rewards, verifiableRewards });
}

function outcomes(inputs: Case) {
  return { ...inputs.shape, tokenLevelRewards: inputs.input("token_rewards"), index: inputs.group };
}

function policyBatch(inputs: Case) {
  return {
    ...inputs.shape,
    oldLogProbs: inputs.input("old_log_probs"),
    logProbs: inputs.input("log_probs"),
    advantages: inputs.input("advantages"),
  };
}

function verlMetrics(result: PaddedPolicyLoss<FloatArray>): Results {
  return {
    "actor/pg_clipfrac": result.clipFraction,
    "actor/ppo_kl": result.ppoKl,
    "actor/pg_clipfrac_lower": result.clipFractionLower,
  };
}

// Parameters that the key gives.
function given<O extends Record<string, number | undefined>>(options: O): { [K in keyof O]?: number } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof O]?: number;
  };
}

// How much a rounding of the values grows when they are divided by their standard deviation.
function whitening(values: FloatArray, { responseMask }: Case): number {
  return amplification(
    Array.from(values).filter((_, i) => responseMask[i] === 1),
    1e-4, // verl adds 1e-8 to the variance
  );
}

function groupAmplification(inputs: Case, epsilon: number): { advantages: number; returns: number } {
  const scores = new Map<string | number, number[]>();
  const rewards = inputs.input("outcome_reward");
  for (const [i, id] of inputs.group.entries()) scores.set(id, [...(scores.get(id) ?? []), rewards[i]!]);
  const worst = Math.max(...Array.from(scores.values(), (group) => amplification(group, epsilon)));
  return { advantages: worst, returns: worst }; // verl returns the same array twice
}

function amplification(values: number[], floor: number): number {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / Math.max(1, values.length - 1);
  const largest = values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  return 1 + largest / Math.max(floor, Math.sqrt(variance));
}
