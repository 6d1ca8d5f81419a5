import type { GroupStats } from "../advantage/index.ts";
import type { CreditForm } from "./options.ts";
import type { PolicySummary } from "./policy.ts";
import type { HistogramBin, RocPoint } from "./ranking.ts";
import type { BadLine } from "./scan.ts";
import type { SpreadSummary } from "../metrics/spread.ts";

/** What a file of rollouts amounts to. */
export interface RolloutSummary {
  /** Rollouts read, >= 0; bad lines are not among them. */
  readonly rollouts: number;
  /** Groups of rollouts, by problem. */
  readonly groups: number;
  /** The first bad lines, with the reason of each. */
  readonly badLines: readonly BadLine[];
  /** Bad lines in all. */
  readonly badLineCount: number;
  /** What one element of returns and advantages is: a token where tokens are given, else a step. */
  readonly unit: "token" | "step";
  /** Rollouts per group. */
  readonly groupSize: SpreadSummary;
  /** Singletons and groups whose outcomes are all equal, as RLOO on the chosen form counts them. */
  readonly groupStats: GroupStats;
  /** How many final answers are right. */
  readonly answers: AnswerSummary;
  /** Steps per rollout. */
  readonly steps: SpreadSummary;
  /** Units per rollout. */
  readonly length: ByAnswer<SpreadSummary>;
  /** Step rewards as they came. */
  readonly stepReward: SpreadSummary;
  /** Repetition score per rollout, of its steps joined by blank lines. */
  readonly repetition: ByAnswer<SpreadSummary>;
  /** The chosen form of credit, then sum-form. */
  readonly forms: readonly [FormSummary, FormSummary];
  /** Per model, most rollouts first. */
  readonly generators: readonly GeneratorSummary[];
}

/** Something for all rollouts, and for those with a right and a wrong answer. */
export interface ByAnswer<T> {
  /** Every rollout, also those whose answer cannot be judged. */
  readonly all: T;
  /** Rollouts with a right answer. */
  readonly right: T;
  /** Rollouts with a wrong answer. */
  readonly wrong: T;
}

/** Final answers. */
export interface AnswerSummary {
  /** Rollouts of which it is known whether the answer is right. */
  readonly known: number;
  /** Rollouts whose answer is right, <= `known`. */
  readonly right: number;
  /** Groups with a known answer. */
  readonly groups: number;
  /** pass@n: share of those groups with at least one right answer. */
  readonly passAtN: number;
}

/** All rollouts under one form of credit. */
export interface FormSummary {
  /** The form of credit. */
  readonly form: CreditForm | "sum-form";
  /** Process outcome per rollout. */
  readonly outcome: ByAnswer<SpreadSummary>;
  /** Process outcome plus coefficient x verifiable reward, per rollout. */
  readonly score: SpreadSummary;
  /** Per unit. */
  readonly returns: SpreadSummary;
  /** Per unit. */
  readonly advantages: SpreadSummary;
  /** Area under the ROC curve of the process outcome against right answers. */
  readonly area: number;
  /** The ROC curve, from (0, 0) to (1, 1); empty when right or wrong answers are missing. */
  readonly roc: readonly RocPoint[];
  /** Right and wrong answers by process outcome. */
  readonly histogram: readonly HistogramBin[];
  /** Right and wrong answers of one group, compared. */
  readonly pairs: PairSummary;
  /** Least-squares slope of the process outcome on the number of steps, over rollouts without a wrong step. */
  readonly outcomePerStep: number;
  /** By number of steps, rising. */
  readonly bySteps: readonly StepCountSummary[];
  /** By distance from the first wrong step, rising. */
  readonly aroundError: readonly ErrorOffsetSummary[];
  /** PPO loss and ratios under these advantages, where log-probs are given. */
  readonly policy?: PolicySummary;
}

/** Pairs of a right and a wrong answer in one group, by whose process outcome is higher. */
export interface PairSummary {
  /** Pairs compared. */
  readonly pairs: number;
  /** Pairs in which the right answer has the higher outcome. */
  readonly rightHigher: number;
  /** Pairs with equal outcomes. */
  readonly ties: number;
}

/** Rollouts with the same number of steps. */
export interface StepCountSummary {
  /** Number of steps. */
  readonly steps: number;
  /** Without a wrong step. */
  readonly sound: SpreadSummary;
  /** With a wrong step. */
  readonly faulty: SpreadSummary;
}

/** Steps at the same distance from the first wrong step of their rollout. */
export interface ErrorOffsetSummary {
  /** 0 at the first wrong step. */
  readonly offset: number;
  /** Advantages of those steps. */
  readonly advantage: SpreadSummary;
}

/** The rollouts of one model. */
export interface GeneratorSummary {
  /** Name of the model, as in the file. */
  readonly name: string;
  /** Its rollouts. */
  readonly rollouts: number;
  /** Those of which it is known whether the answer is right. */
  readonly known: number;
  /** Those with a right answer. */
  readonly right: number;
  /** Mean number of steps per rollout. */
  readonly steps: number;
  /** Per form of credit, in the order of {@link RolloutSummary.forms}. */
  readonly forms: readonly GeneratorForm[];
}

/** The rollouts of one model under one form of credit. */
export interface GeneratorForm {
  /** Mean process outcome. */
  readonly outcome: number;
  /** Mean advantage per step. */
  readonly advantage: number;
  /** Area under the ROC curve of the process outcome against right answers. */
  readonly area: number;
}
