export {
  createScorer,
  type OpenScorer,
  openScorer,
  type ScorerOptions,
  type ScorerRow,
  type StepScorer,
} from "./scorer.ts";
export {
  PRM_STAGES,
  type PrmConfig,
  type PrmQuality,
  type PrmResult,
  type PrmStage,
  trainPrm,
} from "./train.ts";
