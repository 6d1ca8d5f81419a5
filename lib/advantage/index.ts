export { gae, type GaeOptions } from "./gae.ts";
export type {
  GroupIds,
  GroupOptions,
  GroupStats,
  OutcomeAdvantages,
  SingletonPolicy,
  TokenAdvantages,
  TokenEstimate,
  UnscorablePolicy,
} from "./groups.ts";
export { grpo, type GrpoOptions, grpoPassK, type GrpoPassKOptions, opo } from "./outcomes.ts";
export { AdaptiveKlController, type AdaptiveKlOptions, FixedKlController } from "./kl.ts";
export { optimalTokenBaseline, type OptimalTokenBaselineOptions } from "./optimal.ts";
export {
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  type ReinforcePlusPlusBaselineOptions,
  type ReinforcePlusPlusOptions,
  remax,
  type RemaxOptions,
  type WhiteningOptions,
} from "./reinforce.ts";
export {
  type RewardKl,
  rloo,
  type RlooBaseline,
  type StepAdvantages,
  type StepRewards,
  type StepRlooOptions,
  type TokenRlooOptions,
} from "./rloo.ts";
export {
  combineAdvantages,
  type CombineAdvantagesOptions,
  combineRewards,
  type CombineRewardsOptions,
  klReward,
  type KlRewardOptions,
} from "./streams.ts";
export { whiten, type WhitenOptions } from "./whiten.ts";
