/** @internal A curve of a chart: a metric and what the legend calls it. */
export interface CurveSpec {
  readonly metric: string;
  readonly label: string;
}

/** @internal A chart of a run. */
export interface ChartSpec {
  readonly title: string;
  readonly caption: string;
  readonly curves: readonly CurveSpec[];
  /** Metrics between which an area is shaded. */
  readonly band?: readonly [low: string, high: string];
}

const curves = (list: Readonly<Record<string, string>>): CurveSpec[] =>
  Object.entries(list).map(([metric, label]) => ({ metric, label }));

const range = (title: string, caption: string, prefix: string): ChartSpec => ({
  title,
  caption: `${caption} Line: mean of a step; area: from the lowest to the highest.`,
  curves: curves({ [`${prefix}/mean`]: "mean" }),
  band: [`${prefix}/min`, `${prefix}/max`],
});

/** @internal The chart in which reward hacking shows. */
export const HACKING: ChartSpec = {
  title: "PRM score and pass@1",
  caption:
    "Held-out prompts. Where the PRM's score rises and right answers become fewer, the policy has learned to please the PRM.",
  curves: curves({
    "eval/pass@1/greedy": "pass@1, greedy",
    "eval/pass@1/sampled": "pass@1, sampled",
    "eval/prm": "PRM score",
  }),
};

/** @internal The charts of a run, those with data. */
export const CHARTS: readonly ChartSpec[] = [
  HACKING,
  {
    title: "Right answers while training",
    caption:
      "Prompts of a step with a known answer: share of right responses, of prompts with at least one, with only right and with only wrong ones. Groups that are all right or all wrong teach nothing under a leave-one-out baseline.",
    curves: curves({
      "pass@1": "pass@1",
      "pass@n": "pass@n",
      "groups/all_right": "all right",
      "groups/all_wrong": "all wrong",
    }),
  },
  range("Score", "What a response is worth in all, before KL.", "critic/score"),
  {
    title: "Rewards by source",
    caption:
      "Means of a step: verifiable reward, PRM reward of a step, process outcome of a response, their total.",
    curves: curves({
      "critic/rewards/verifiable/mean": "verifiable",
      "critic/rewards/process/mean": "process, per step",
      "critic/rewards/outcome/mean": "process outcome",
      "critic/rewards/mean": "total",
    }),
  },
  range(
    "Steps per response",
    "Sum-form credit makes it grow, too strong a length tax makes it shrink.",
    "num_steps",
  ),
  {
    title: "Response length",
    caption: "Mean tokens of all responses, of right and of wrong ones.",
    curves: curves({
      "response_length/mean": "all",
      "response_length/correct/mean": "right",
      "response_length/incorrect/mean": "wrong",
    }),
  },
  {
    title: "Held-out steps",
    caption: "Mean steps per response of the evaluation.",
    curves: curves({ "eval/steps": "steps" }),
  },
  {
    title: "Held-out length",
    caption: "Mean tokens per response of the evaluation.",
    curves: curves({ "eval/tokens": "tokens" }),
  },
  {
    title: "KL to the reference policy",
    caption: "Held-out prompts, of a whole response.",
    curves: curves({ "eval/kl": "KL" }),
  },
  {
    title: "KL penalty",
    caption: "Estimate per token, in the loss or in the reward.",
    curves: curves({
      "actor/kl_loss": "in the loss",
      "actor/reward_kl_penalty": "in the reward",
    }),
  },
  {
    title: "KL to the sampling policy",
    caption: "How far the updates of a step have moved the policy.",
    curves: curves({ "actor/ppo_kl": "KL" }),
  },
  {
    title: "Entropy",
    caption: "Mean entropy of the policy per token.",
    curves: curves({ "actor/entropy": "entropy" }),
  },
  range("Advantages", "Per token, as they enter the loss.", "critic/advantages"),
  range("Returns", "Per token.", "critic/returns"),
  {
    title: "Policy loss",
    caption: "Mean over the updates of a step.",
    curves: curves({ "actor/pg_loss": "policy loss" }),
  },
  {
    title: "Clipped tokens",
    caption: "Share of tokens whose ratio is clipped; lower: by the dual clip.",
    curves: curves({ "actor/pg_clipfrac": "clipped", "actor/pg_clipfrac_lower": "clipped, lower" }),
  },
  {
    title: "Gradient norm",
    caption: "Global norm before clipping.",
    curves: curves({ "actor/grad_norm": "policy", "critic/grad_norm": "critic" }),
  },
  {
    title: "Learning rate",
    caption: "Of the updates of a step.",
    curves: curves({ "actor/lr": "policy", "critic/lr": "critic" }),
  },
  {
    title: "Value function",
    caption: "Loss of the critic, and the share of the returns' variance that it explains.",
    curves: curves({ "critic/vf_loss": "loss", "critic/vf_explained_var": "explained variance" }),
  },
  {
    title: "Truncated responses",
    caption: "Share of responses that reached the longest length.",
    curves: curves({ "response_length/clip_ratio": "truncated" }),
  },
  {
    title: "Repetition",
    caption: "Mean repetition score of a response.",
    curves: curves({ "repetition/mean": "repetition" }),
  },
  {
    title: "Reflection",
    caption: "Mean reflection score of a response.",
    curves: curves({ "reflection/mean": "reflection" }),
  },
  range("Prompt length", "Tokens.", "prompt_length"),
];

/** @internal Metrics whose curves are laid over one another when runs are compared. */
export const COMPARED: readonly (readonly [metric: string, title: string])[] = [
  ["eval/pass@1/greedy", "Held-out pass@1, greedy"],
  ["eval/pass@1/sampled", "Held-out pass@1, sampled"],
  ["eval/prm", "Held-out PRM score"],
  ["eval/steps", "Held-out steps"],
  ["eval/tokens", "Held-out length"],
  ["eval/kl", "Held-out KL to the reference policy"],
  ["eval/loss", "Held-out loss"],
  ["pass@1", "Training pass@1"],
  ["pass@n", "Training pass@n"],
  ["critic/score/mean", "Training score"],
  ["critic/rewards/process/mean", "PRM reward per step"],
  ["num_steps/mean", "Steps per response"],
  ["response_length/mean", "Response length"],
  ["response_length/clip_ratio", "Truncated responses"],
  ["actor/entropy", "Entropy"],
  ["actor/ppo_kl", "KL to the sampling policy"],
  ["actor/grad_norm", "Gradient norm"],
  ["critic/vf_explained_var", "Explained variance of the returns"],
];
