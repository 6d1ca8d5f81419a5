import type { GroupIds } from "../advantage/index.ts";
import type { FloatArray, Owned } from "../ragged.ts";
import { assertOneOf } from "../validate.ts";
import { othersRatio, openBatch, type PaddedAdvantages, type PaddedBatch } from "./padded.ts";
import { type PaddedMinForm, type PaddedProcessRewards, paddedMinForm } from "./pure-verl.ts";

/** Input of {@link PureOpenRlhfPreset.processExperiences}. */
export interface PureExperiences<T extends FloatArray> extends PaddedBatch {
  /** `[rows, width]` process rewards at step ends, after min-form weighting. */
  readonly processRewards: T;
  /** `[rows, width]`, 1 at the last token of every step. */
  readonly stepEndMask: Uint8Array;
  /** `[rows]`, 1 solved, 0 not; 1 also where no answer is known. */
  readonly solved: T;
  /** Prompt id of each response; the peer takes equal, consecutive groups. */
  readonly index: GroupIds;
}

/** Options of {@link PureOpenRlhfPreset.processExperiences}. */
export interface PureExperienceOptions {
  /** Which streams are used. Default `"PRMVR"`. */
  rewardMode?: "PRM" | "VR" | "PRMVR";
  /** Baseline of the process rewards. The command line's default is `"step"`, the published script uses `"token"`. */
  rewardBaseline?: "step" | "token";
  /** Weight of the verifiable reward, default 1. */
  verifiableRewardCoef?: number;
}

/** Input of {@link PureOpenRlhfPreset.getAdvantagesAndReturns}. */
export interface PureReturnsBatch<T extends FloatArray> extends PaddedBatch {
  /** `[rows, width]` token rewards after the baseline. */
  readonly tokenLevelRewards: T;
  /** `[rows, width]`, 1 at separators and EOS. */
  readonly stepEndMask: Uint8Array;
}

/** The main branch of PURE (github.com/CJReinforce/PURE), built on OpenRLHF. */
export interface PureOpenRlhfPreset {
  /** Approximate min-form credit, as {@link PureVerlPreset.minForm}; the peer fixes T = 0.1. */
  minForm<T extends FloatArray>(
    batch: PaddedProcessRewards<T>,
    options?: { temperature?: number },
  ): PaddedMinForm<T>;
  /**
   * Token rewards after the leave-one-out baseline, KL excluded. With O the sum of a response's process rewards:
   * - `"step"`: every step end gets `- mean_{j != i} O_j / K_j`, K the number of steps;
   * - `"token"`: the step with n_k valid tokens *before* its last one gets `- n_k sum_{j != i} O_j / sum_{j != i} L_j`,
   *   though L counts every token.
   *
   * The verifiable reward is coded solved - 1, has a leave-one-out baseline of its own, and is added to the last token.
   * A group of one is NaN.
   *
   * @throws `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`
   */
  processExperiences<T extends FloatArray>(
    batch: PureExperiences<T>,
    options?: PureExperienceOptions,
  ): Owned<T>;
  /** Suffix sum of the rewards, set to 0 at every step end and EOS: those tokens get no loss. */
  getAdvantagesAndReturns<T extends FloatArray>(batch: PureReturnsBatch<T>): PaddedAdvantages<T>;
}

/** @internal The main branch of PURE. */
export const pureOpenRlhf: PureOpenRlhfPreset = {
  minForm: (batch, { temperature } = {}) => paddedMinForm(batch, temperature),

  processExperiences<T extends FloatArray>(
    batch: PureExperiences<T>,
    { rewardMode = "PRMVR", rewardBaseline = "step", verifiableRewardCoef = 1 }: PureExperienceOptions = {},
  ) {
    assertOneOf(rewardMode, "rewardMode", ["PRM", "VR", "PRMVR"]);
    assertOneOf(rewardBaseline, "rewardBaseline", ["step", "token"]);
    const padded = openBatch(batch, "processRewards", batch?.processRewards);
    const groups = padded.groups(batch.index);
    const only = padded.flags(batch.stepEndMask, "stepEndMask");
    const solved = padded.perRow(batch.solved, "solved");
    const process = rewardMode === "VR" ? padded.newTokens() : batch.processRewards;
    const outcomes = padded.rowSums(process);
    let rewards: Owned<T>;
    if (rewardBaseline === "step") {
      const steps = padded.lengths(only);
      const perStep = outcomes.map((outcome, i) => outcome / steps[i]!) as Owned<T>;
      rewards = padded.subtractRows(process, othersRatio(groups, perStep), { only });
    } else {
      const perToken = othersRatio(groups, outcomes, padded.lengths());
      const weights = padded.stepTokens(only);
      rewards = padded.subtractRows(process, perToken, { weights, only, keepElsewhere: true });
    }
    if (rewardMode === "PRM") return rewards;
    const verifiable = solved.map((value) => value - 1) as T;
    const baselines = othersRatio(groups, verifiable);
    const centred = verifiable.map((value, i) => verifiableRewardCoef * (value - baselines[i]!)) as T;
    return padded.addAtLast(rewards, centred);
  },

  getAdvantagesAndReturns<T extends FloatArray>(batch: PureReturnsBatch<T>) {
    const padded = openBatch(batch, "tokenLevelRewards", batch?.tokenLevelRewards);
    const ends = padded.flags(batch.stepEndMask, "stepEndMask");
    const returns = padded.returns(batch.tokenLevelRewards, { gamma: 1 });
    const masked = returns.map((value, i) => (ends[i] === 1 ? 0 : value)) as Owned<T>;
    return { advantages: masked, returns: masked.slice() as Owned<T> };
  },
};
