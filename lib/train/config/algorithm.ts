import * as z from "zod";
import { SCHEDULES } from "../schedule.ts";
import {
  choice,
  count,
  microBatchTokens,
  nonNegative,
  positive,
  section,
  share,
  text,
  whole,
} from "./fields.ts";

/** @internal Advantage estimators. */
export const ESTIMATORS = [
  "rloo",
  "grpo",
  "dr-grpo",
  "grpo-passk",
  "opo",
  "reinforce++",
  "reinforce++-baseline",
  "remax",
  "optimal-token-baseline",
  "gae",
] as const;

/** @internal How rewards become advantages. */
export const algorithmSection = section(
  {
    estimator: choice(ESTIMATORS).default("rloo").describe("Advantage estimator."),
    baseline: choice(["return", "token", "step", "outcome"])
      .default("token")
      .describe("Baseline of `rloo` on process rewards; the verifiable reward has its own, leave-one-out."),
    normalize: choice(["whiten", "scale", "none"])
      .default("whiten")
      .describe(
        "Over all response tokens of a step: mean 0 and deviation 1, deviation 1 only, or as they are.",
      ),
    gamma: share()
      .default(1)
      .describe("Discount per token of `gae`, `reinforce++` and `optimal-token-baseline`."),
    lambda: share().default(1).describe("lambda of `gae`."),
    bootstrapTruncated: z
      .boolean()
      .default(false)
      .describe("`gae`: a truncated response goes on with the critic's value of its last state, not with 0."),
  },
  "Advantages.",
);

/** @internal KL towards the reference policy. */
export const klSection = section(
  {
    place: choice(["none", "reward", "loss"])
      .default("loss")
      .describe("Where the penalty goes: nowhere, into the rewards, or into the loss."),
    coefficient: nonNegative().default(0.001).describe("Factor of the penalty; the first one if adaptive."),
    estimator: choice(["k1", "k2", "k3", "abs"]).default("k3").describe("Estimate per token."),
    gradient: choice(["same", "k2", "importance"])
      .default("same")
      .describe("In the loss: whose gradient it has; only `k2` and `importance` follow the reverse KL."),
    placement: choice(["before", "after"])
      .default("after")
      .describe("In the reward, with `rloo`: before the baseline is taken off, or after."),
    controller: choice(["fixed", "adaptive"])
      .default("fixed")
      .describe("Whether the factor follows a target."),
    target: positive().default(0.1).describe("Adaptive: KL per token to steer to."),
    horizon: positive()
      .default(10000)
      .describe("Adaptive: responses over which a lasting error of 20 % moves it by 20 %."),
    reference: text()
      .optional()
      .describe("Checkpoint folder of the reference policy. Default: the policy as it was at the start."),
  },
  "KL penalty.",
);

/** @internal An optimiser with its schedule. */
export const optimizerShape = (learningRate: number) => ({
  learningRate: nonNegative().default(learningRate).describe("Peak learning rate of AdamW."),
  schedule: choice(SCHEDULES).default("constant").describe("After the warm-up."),
  warmup: whole().default(0).describe("Steps over which the learning rate rises from 0."),
  finalShare: share().default(0).describe("Share of the learning rate that `cosine` and `linear` end on."),
  betas: z.tuple([share(), share()]).default([0.9, 0.999]).describe("Decay of the two moments of AdamW."),
  weightDecay: nonNegative().default(0).describe("Decoupled weight decay."),
  maxNorm: positive().default(1).describe("Largest global gradient norm."),
  epochs: count().default(1).describe("Passes over the responses of a step."),
  miniBatch: count().optional().describe("Prompts per optimiser step. Default: all of the step at once."),
});

/** @internal The policy's update. */
export const actorSection = section(
  {
    ...optimizerShape(1e-6),
    loss: choice(["ppo", "gspo", "gmpo", "cispo", "sapo", "reinforce"])
      .default("ppo")
      .describe("Policy loss."),
    clipRatio: nonNegative().default(0.2).describe("How far a ratio may leave 1."),
    clipRatioLow: nonNegative().optional().describe("The same below 1. Default: clipRatio."),
    clipRatioHigh: nonNegative().optional().describe("The same above 1. Default: clipRatio."),
    dualClip: z
      .number()
      .gt(1)
      .optional()
      .describe("`ppo`: for A < 0 the loss is at most -c A. Default: no limit."),
    aggregation: choice(["token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "prompt-mean"])
      .default("token-mean")
      .describe("How losses of tokens become one number."),
    entropyCoefficient: nonNegative().default(0).describe("Factor of the entropy bonus."),
    microBatchTokens: microBatchTokens(),
  },
  "The update of the policy.",
);

/** @internal The value function. */
export const criticSection = section(
  {
    model: choice(["own", "shared"])
      .default("own")
      .describe("`own`: a model of its own; `shared`: a head on the policy, trained with it."),
    path: text().optional().describe("`own`: checkpoint folder to start from. Default: the policy's."),
    ...optimizerShape(1e-5),
    clipRange: positive().optional().describe("How far a value may leave the old one. Default: no clipping."),
    coefficient: positive().default(0.5).describe("`shared`: factor of the value loss."),
    warmupSteps: whole().default(0).describe("Steps in which only the critic trains."),
  },
  "The value function of `gae`.",
);

/** @internal Weights for rollouts that another engine or an older policy has drawn. */
export const correctionSection = section(
  {
    kind: choice(["none", "truncate", "mask"])
      .default("none")
      .describe("Limit importance weights to [min, max], or drop tokens outside."),
    level: choice(["token", "sequence-sum", "sequence-mean"])
      .default("token")
      .describe("What a weight stands for."),
    min: nonNegative().default(0).describe("Lowest weight."),
    max: positive().default(2).describe("Highest weight."),
    normalize: z.boolean().default(false).describe("Divide by the mean weight."),
  },
  "Importance weights for the mismatch between sampling and training.",
);
