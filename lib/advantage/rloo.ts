import { placeSteps } from "../credit/index.ts";
import { assertStepEnds } from "../credit/steps.ts";
import { launch } from "../cuda/launch.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import type { PlacedValue } from "../cuda/value.ts";
import { addon } from "../load.ts";
import type { Mask, Owned, Ragged, Values } from "../ragged.ts";
import { assertStatus } from "../kernel-status.ts";
import { allocate, assertLike, assertRaggedValues, checkMask, outputLike } from "../placed-values.ts";
import { assertNumber, assertOffsets, assertOneOf, assertRagged, assertTypedArray } from "../validate.ts";
import {
  assertRowCount,
  GroupCall,
  type GroupIds,
  type GroupOptions,
  type GroupStats,
  type OutcomeAdvantages,
  type TokenAdvantages,
} from "./groups.ts";
import { outcomeAdvantages } from "./outcomes.ts";

/** Which baseline a token's return is compared with; see {@link rloo}. */
export type RlooBaseline = "outcome" | "return" | "step" | "token";

/** A KL penalty inside the reward. */
export interface RewardKl<T extends Values> {
  /** Finite KL values, one per token. */
  values: Ragged<T>;
  /** beta. */
  coefficient: number;
  /** `"before"`: the baseline sees the penalty (siblings share it); `"after"`: only the own response pays it. */
  placement: "before" | "after";
}

/** Options of {@link rloo} on rewards of steps. */
export interface StepRlooOptions<T extends Values> extends GroupOptions {
  /** Default `"return"`. */
  baseline?: RlooBaseline;
  /** `"token"` baseline: whether a step's last token (a separator or EOS) counts in the length of its step. Default true. */
  countSeparators?: boolean;
  /**
   * `"token"` baseline: a sibling shorter than this counts as this long, so that a near-empty response cannot set an
   * absurd reward per token. Default 1: no effect.
   */
  minTokens?: number;
  /** One per token: masked-out tokens read nothing, count nowhere and get +0. */
  mask?: Mask;
  /** A penalty in the reward. */
  kl?: RewardKl<T>;
  /** Reused for the advantages; one value per token. */
  out?: T;
}

/** Options of {@link rloo} on rewards of tokens. */
export interface TokenRlooOptions<T extends Values> extends StepRlooOptions<T> {
  /** Token index (within the response) of each step's last token, for `"step"` and `"token"`. Without it every counted token is a step. */
  stepEnds?: Ragged<Int32Array>;
}

/** Rewards that stand at the last tokens of steps. */
export interface StepRewards<T extends Values> {
  /** One per step: credited rewards, for example those of {@link minForm}. */
  readonly rewards: Ragged<T>;
  /** Token index (within the response) of each step's last token, in the rows of `rewards`. */
  readonly stepEnds: Ragged<Int32Array>;
  /** Token offsets, one row per response. */
  readonly offsets: Int32Array;
}

/** Advantages of {@link rloo} on rewards of steps; the returns only on request. */
export interface StepAdvantages<T extends Values> {
  /** One per token, in the dtype of the rewards. */
  readonly advantages: Ragged<Owned<T>>;
  /** How the groups were made up. */
  readonly stats: PlacedValue<T, GroupStats>;
}

// In the order of Baseline in native/include/minform/advantage.h.
const BASELINES = ["outcome", "return", "step", "token"] as const;

/**
 * Leave-one-out advantages (RLOO): every response is compared with the others of its group.
 *
 * **On outcomes** (a typed array, one reward per response): `A_i = r_i - mean_{j != i} r_j`.
 *
 * **On token rewards** (a ragged array): with `G_t` the reward-to-go (gamma 1), `O_j` the sum of rewards, `L_j` the
 * counted tokens and `K_j` the counted steps of sibling j,
 *
 * | baseline | advantage |
 * |---|---|
 * | `"outcome"` | `A_t = G_t - mean_j O_j` |
 * | `"return"` (default) | `A_t = G_t - sum_j sum_t G_jt / sum_j L_j` |
 * | `"step"` | the reward-to-go after `mean_j O_j / K_j` is taken off at every step's last token |
 * | `"token"` | the reward-to-go after `(sum_j O_j / sum_j L_j) x (tokens of the step)` is taken off there |
 *
 * **On step rewards** (`{ rewards, stepEnds, offsets }`): the same as on `placeSteps(rewards, stepEnds, offsets)`, but
 * reads one number per step and writes one per token. The returns are a second token-sized write, so they are left out
 * unless `returns: true`.
 *
 * Sums run over the rewards before and after the own one, measured from the group's lowest: adding a constant to all
 * outcomes of a group changes nothing, equal outcomes give exactly 0, and no finite input overflows (a result beyond
 * the dtype saturates). A response without a counted token (or step, for `"step"`) takes no part in its group; a step
 * whose last token is masked out is part of the next. With `kl`, `returns` is the reward-to-go of `R - beta kl`.
 *
 * Sources: RLOO, arXiv 2402.14740; step and token baselines: PURE, arXiv 2504.15275, whose first implementation is
 * `countSeparators: false`.
 *
 * @param rewards - finite; NaN as `unscorable` says
 * @param groups - one id per response
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` naming argument, row and position, `ERR_SINGLETON_GROUP`
 */
export function rloo<T extends Values>(
  rewards: T,
  groups: GroupIds,
  options?: GroupOptions,
): OutcomeAdvantages<T>;
export function rloo<T extends Values>(
  rewards: Ragged<T>,
  groups: GroupIds,
  options?: TokenRlooOptions<T>,
): TokenAdvantages<T>;
export function rloo<T extends Values>(
  rewards: StepRewards<T>,
  groups: GroupIds,
  options: StepRlooOptions<T> & { returns: true },
): TokenAdvantages<T>;
export function rloo<T extends Values>(
  rewards: StepRewards<T>,
  groups: GroupIds,
  options?: StepRlooOptions<T> & { returns?: boolean },
): StepAdvantages<T>;
export function rloo<T extends Values>(
  rewards: T | Ragged<T> | StepRewards<T>,
  groups: GroupIds,
  options: TokenRlooOptions<T> & { returns?: boolean } = {},
): OutcomeAdvantages<T> | TokenAdvantages<T> | StepAdvantages<T> {
  if (ArrayBuffer.isView(rewards) || rewards instanceof DeviceTensor)
    return outcomeAdvantages(rewards as T, groups, options, { form: "rloo" });
  if (rewards !== null && typeof rewards === "object" && "stepEnds" in rewards)
    return stepRloo(rewards, groups, options);
  return tokenRloo(rewards as Ragged<T>, groups, options);
}

function checkBaseline(
  options: StepRlooOptions<Values>,
): [baseline: number, countSeparators: boolean, minTokens: number] {
  const { baseline = "return", countSeparators = true, minTokens = 1 } = options;
  assertOneOf(baseline, "baseline", BASELINES);
  assertNumber(minTokens, "minTokens", { low: 1 });
  return [BASELINES.indexOf(baseline), countSeparators === true, minTokens];
}

function tokenRloo<T extends Values>(
  rewards: Ragged<T>,
  groups: GroupIds,
  options: TokenRlooOptions<T> & { returns?: boolean },
): TokenAdvantages<T> {
  const { stepEnds, mask, kl, out } = options;
  assertRaggedValues(rewards, "rewards");
  const { data, offsets } = rewards;
  const rule = checkBaseline(options as StepRlooOptions<Values>);
  if (stepEnds !== undefined) {
    assertRagged(stepEnds, "stepEnds", ["Int32Array"]);
    assertRowCount(stepEnds.offsets, "stepEnds", offsets.length - 1, "rewards");
    assertStepEnds(stepEnds, "stepEnds", stepEnds.offsets, "stepEnds", offsets);
  }
  if (kl !== undefined) {
    assertLike(kl.values, "kl.values", rewards, "rewards");
    assertNumber(kl.coefficient, "kl.coefficient");
    assertOneOf(kl.placement, "kl.placement", ["before", "after"]);
  }
  const call = new GroupCall(groups, offsets.length - 1, options, data);
  const advantages = outputLike(out, data, data.length, "out", "rewards.data");
  const returns = allocate(data, data.length);
  const status = launch(
    "rloo",
    addon().advantage.tokenRloo,
    ...rule,
    data,
    offsets,
    checkMask(mask, "mask", data.length, data),
    stepEnds?.offsets ?? null,
    stepEnds?.data ?? null,
    kl?.values.data ?? null,
    kl?.coefficient ?? 0,
    kl?.placement === "after",
    ...call.native,
    advantages,
    returns,
    call.stats,
  );
  assertStatus(status, offsets, { rewards: data, "kl.values": kl?.values.data });
  return {
    advantages: { data: advantages, offsets },
    returns: { data: returns, offsets },
    stats: call.finish<T>(),
  };
}

function stepRloo<T extends Values>(
  steps: StepRewards<T>,
  groups: GroupIds,
  options: StepRlooOptions<T> & { returns?: boolean },
): TokenAdvantages<T> | StepAdvantages<T> {
  const { rewards, stepEnds, offsets } = steps;
  const { mask, kl, out } = options;
  // KL is one number per token, so there is nothing to save.
  if (kl !== undefined)
    return tokenRloo(placeSteps(rewards, stepEnds, offsets) as unknown as Ragged<T>, groups, {
      ...options,
      stepEnds,
    });
  assertRaggedValues(rewards, "rewards.rewards");
  const { data } = rewards;
  assertTypedArray(offsets, "rewards.offsets", ["Int32Array"]);
  const total = offsets[offsets.length - 1] ?? 0;
  assertOffsets(offsets, total, "rewards.offsets");
  assertRowCount(rewards.offsets, "rewards.rewards", offsets.length - 1, "rewards.offsets");
  assertStepEnds(stepEnds, "rewards.stepEnds", rewards.offsets, "rewards.rewards", offsets);
  const rule = checkBaseline(options as StepRlooOptions<Values>);
  const call = new GroupCall(groups, offsets.length - 1, options, data);
  const advantages = outputLike(out, data, total, "out", "rewards.rewards.data");
  const returns = options.returns === true ? allocate(data, total) : null;
  const status = launch(
    "rloo",
    addon().advantage.stepRloo,
    ...rule,
    data,
    rewards.offsets,
    stepEnds.data,
    offsets,
    checkMask(mask, "mask", total, data),
    ...call.native,
    advantages,
    returns,
    call.stats,
  );
  assertStatus(status, rewards.offsets, { "rewards.rewards": data });
  const result = { advantages: { data: advantages, offsets }, stats: call.finish<T>() };
  return returns === null ? result : { ...result, returns: { data: returns, offsets } };
}
