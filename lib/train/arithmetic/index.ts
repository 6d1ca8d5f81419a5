export { labelSteps, type StepLabel } from "./labels.ts";
export { type Habits, type Move, movesAt, type Position, startOf } from "./policy.ts";
export { drawProblem, type Problem, promptOf, type Term } from "./problem.ts";
export { type Random, randomStream } from "./random.ts";
export {
  type ArithmeticRollout,
  arithmeticRollouts,
  type ArithmeticRolloutsOptions,
  DEFAULT_POLICIES,
  type NamedPolicy,
  noisyLabelRewards,
  PLAIN_HABITS,
} from "./rollouts.ts";
export { type Sample, sampleSolution, solutionLogProbs } from "./sampling.ts";
export {
  BOS,
  BOX,
  CLOSE,
  decodeTokens,
  encodeTokens,
  EOS,
  EQUALS,
  PAD,
  SEPARATOR,
  TOKENS,
} from "./vocabulary.ts";
