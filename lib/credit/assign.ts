import { launch } from "../cuda/launch.ts";
import { addon } from "../load.ts";
import type { Mask, Owned, Ragged, Values } from "../ragged.ts";
import { assertStatus } from "../kernel-status.ts";
import { allocate, assertRaggedValues, checkMask } from "../placed-values.ts";
import { assertNumber, assertOneOf } from "../validate.ts";
import { assertStepEnds } from "./steps.ts";

/** What credit assignment returns, in the dtype and the place of its input. Masked-out steps hold +0. */
export interface Credit<T extends Values> {
  /** Per step: what the step is credited with. The undiscounted reward-to-go of `rewards` is `returns`. */
  readonly rewards: Ragged<Owned<T>>;
  /** Per step: the return from this step on. */
  readonly returns: Ragged<Owned<T>>;
  /** Per response: the return from its first counted step on; 0 for a response without one. */
  readonly outcomes: Owned<T>;
}

/** {@link Credit} of {@link minForm}, with the weights that were used. */
export interface MinFormCredit<T extends Values> extends Credit<T> {
  /** Per step: softmax(-r / T); they sum to 1 over the counted steps of a response. */
  readonly weights: Ragged<Owned<T>>;
}

/** Options that every form of credit takes. */
export interface CreditOptions {
  /** One per step: 0 leaves the step out (it may then hold NaN). */
  mask?: Mask;
}

/** Options of {@link minForm}. */
export interface MinFormOptions extends CreditOptions {
  /** T > 0 of the soft minimum, in units of the rewards. Default 0.1, as PURE. T -> 0 gives the worst step all the weight (steps that tie for it share it). */
  temperature?: number;
}

/** Options of {@link gammaDecay} by step. */
export interface StepDecayOptions extends CreditOptions {
  /** Discount per step, in [0, 1]. */
  gamma: number;
  /** The default. */
  by?: "step";
}

/** Options of {@link gammaDecay} by token. */
export interface TokenDecayOptions extends CreditOptions {
  /** Discount per token between the steps' last tokens, in [0, 1]. */
  gamma: number;
  /** Discount by token instead of by step. */
  by: "token";
  /** Token index of each step's last token, in the rows of the step rewards. */
  stepEnds: Ragged<Int32Array>;
}

/** Options of {@link gammaDecay}: discount per step or per token. */
export type GammaDecayOptions = StepDecayOptions | TokenDecayOptions;

// In the order of CreditForm in native/include/minform/credit.h.
const FORMS = ["minForm", "strictMinForm", "gammaDecay", "sum", "mean", "product"] as const;

function assign<T extends Values>(
  form: (typeof FORMS)[number],
  stepRewards: Ragged<T>,
  { mask }: CreditOptions,
  parameter = 0,
  stepEnds: Int32Array | null = null,
): MinFormCredit<T> {
  assertRaggedValues(stepRewards, "stepRewards");
  const { data, offsets } = stepRewards;
  const rewards = allocate(data, data.length);
  const returns = allocate(data, data.length);
  const outcomes = allocate(data, offsets.length - 1);
  const weights = form === "minForm" ? allocate(data, data.length) : null;
  const status = launch(
    form,
    addon().credit.assign,
    FORMS.indexOf(form),
    data,
    offsets,
    checkMask(mask, "mask", data.length, data),
    stepEnds,
    parameter,
    rewards,
    returns,
    outcomes,
    weights,
  );
  assertStatus(status, offsets, { stepRewards: data });
  return {
    rewards: { data: rewards, offsets },
    returns: { data: returns, offsets },
    outcomes,
    weights: { data: weights ?? rewards, offsets },
  };
}

function plain<T extends Values>({ rewards, returns, outcomes }: MinFormCredit<T>): Credit<T> {
  return { rewards, returns, outcomes };
}

/**
 * Soft min-form credit: `w = softmax(-r / T)` over the steps of a response, credited reward `w_k r_k`, return
 * `G_k = sum_{j >= k} w_j r_j`, outcome `S = sum_k w_k r_k`. `min r <= S <= mean r`, and `S -> min r` as T -> 0.
 * Computed from `(r - min r) / T`, so every T > 0 is finite. After the worst step the return is near 0, unlike
 * {@link strictMinForm}'s; equal steps share the weight.
 *
 * Source: PURE, arXiv 2504.15275, section 3 (approximate form).
 *
 * @param stepRewards - finite PRM rewards, one per step; any range
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` naming row and step
 */
export function minForm<T extends Values>(
  stepRewards: Ragged<T>,
  options: MinFormOptions = {},
): MinFormCredit<T> {
  const { temperature = 0.1 } = options;
  assertNumber(temperature, "temperature", { low: 0, open: true });
  return assign("minForm", stepRewards, options, temperature);
}

/**
 * Strict min-form credit: `G_k = min_{j >= k} r_j` over the steps (not the tokens) of a response.
 *
 * Source: PURE, arXiv 2504.15275, section 3 (exact form).
 *
 * @param stepRewards - finite PRM rewards, one per step
 * @throws as {@link minForm}
 */
export function strictMinForm<T extends Values>(
  stepRewards: Ragged<T>,
  options: CreditOptions = {},
): Credit<T> {
  return plain(assign("strictMinForm", stepRewards, options));
}

/**
 * Discounted credit: `G_k = r_k + gamma^d G_{k+1}`, with d = 1 by step, and d = the number of tokens between the two
 * steps' last tokens by token.
 *
 * @param stepRewards - finite PRM rewards, one per step
 * @param options - `gamma` in [0, 1]; `by`, default `"step"`
 * @throws as {@link minForm}
 */
export function gammaDecay<T extends Values>(stepRewards: Ragged<T>, options: GammaDecayOptions): Credit<T> {
  assertNumber(options.gamma, "gamma", { low: 0, high: 1 });
  const { by = "step" } = options;
  assertOneOf(by, "by", ["step", "token"]);
  let ends: Int32Array | null = null;
  if (options.by === "token") {
    assertRaggedValues(stepRewards, "stepRewards");
    assertStepEnds(options.stepEnds, "stepEnds", stepRewards.offsets, "stepRewards");
    ends = options.stepEnds.data;
  }
  return plain(assign("gammaDecay", stepRewards, options, options.gamma, ends));
}

/**
 * Sum-form credit: `G_k = sum_{j >= k} r_j`, the form that PURE shows to be hackable by adding steps.
 *
 * @param stepRewards - finite PRM rewards, one per step
 * @throws as {@link minForm}
 */
export function sum<T extends Values>(stepRewards: Ragged<T>, options: CreditOptions = {}): Credit<T> {
  return plain(assign("sum", stepRewards, options));
}

/**
 * Mean credit: `G_k = (1 / K) sum_{j >= k} r_j` with K the counted steps of the response; the limit of
 * {@link minForm} for T -> infinity.
 *
 * @param stepRewards - finite PRM rewards, one per step
 * @throws as {@link minForm}
 */
export function mean<T extends Values>(stepRewards: Ragged<T>, options: CreditOptions = {}): Credit<T> {
  return plain(assign("mean", stepRewards, options));
}

/**
 * Product credit: `G_k = prod_{j >= k} r_j`. Meant for step probabilities in [0, 1]; on rewards in [-1, 1] the sign
 * alternates with every bad step.
 *
 * @param stepRewards - finite step scores, one per step
 * @throws as {@link minForm}
 */
export function product<T extends Values>(stepRewards: Ragged<T>, options: CreditOptions = {}): Credit<T> {
  return plain(assign("product", stepRewards, options));
}
