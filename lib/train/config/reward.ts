import * as z from "zod";
import { choice, nonNegative, positive, section, share, text } from "./fields.ts";

/** @internal Reward modes. */
export const REWARD_MODES = ["prm", "vr", "prm+vr", "function"] as const;

/** @internal Forms of credit. */
export const CREDITS = ["min-form", "strict-min-form", "sum", "gamma-decay", "mean", "product"] as const;

/** @internal Where rewards come from, and how steps are credited. */
export const rewardSection = section(
  {
    mode: choice(REWARD_MODES)
      .default("prm+vr")
      .describe(
        "`prm`: rewards of steps by a process reward model; `vr`: whether the answer is right; `prm+vr`: both; " +
          "`function`: a function of one's own, one reward per token.",
      ),
    prm: text()
      .optional()
      .describe(
        "Checkpoint folder of the PRM; needed by `prm` and `prm+vr`; in the other modes for `eval/prm` alone.",
      ),
    prmEngine: choice(["auto", "train", "prm"])
      .default("auto")
      .describe(
        "What runs the PRM: `train` the training engine (a token classifier with the policy's tokenizer, read at step " +
          "ends), `prm` what `minform score` uses (any convention); `auto` takes `train` where the checkpoint allows it.",
      ),
    function: text()
      .optional()
      .describe("Mode `function`: `digits`, or an ES module whose default export is the function."),
    separator: z.string().min(1).default("\n\n").describe("Text on whose tokens a step ends."),
    credit: choice(CREDITS)
      .default("min-form")
      .describe("How step rewards become returns; `min-form` is the soft minimum of PURE."),
    creditTemperature: positive()
      .default(0.1)
      .describe("Temperature of `min-form`; towards 0 it is the minimum."),
    gamma: share().default(0.9).describe("Discount of `gamma-decay`."),
    gammaBy: choice(["step", "token"]).default("step").describe("What `gamma-decay` discounts by."),
    prmCoefficient: nonNegative().default(1).describe("Factor of the process rewards."),
    verifiableCoefficient: nonNegative().default(1).describe("Factor of the verifiable reward."),
    verifiableCoding: choice(["zero-one", "minus-one-zero"])
      .default("zero-one")
      .describe("What a right; a wrong answer counts as: 1; 0 or 0; -1. Baselines take the difference away."),
    verifier: choice(["default", "hendrycks", "prime", "qwen", "qwen-minerva"])
      .default("default")
      .describe("How answers are compared."),
  },
  "Rewards and credit.",
);
