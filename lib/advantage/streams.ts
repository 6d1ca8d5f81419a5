import { ArgumentError } from "../errors.ts";
import { launch } from "../cuda/launch.ts";
import { type Status, whenKnown } from "../cuda/status.ts";
import { addon } from "../load.ts";
import type { Mask, Owned, Ragged, Values } from "../ragged.ts";
import { assertStatus, valueAt } from "../kernel-status.ts";
import {
  allocate,
  assertLike,
  assertRaggedValues,
  assertVectorLike,
  checkMask,
  outputLike,
} from "../placed-values.ts";
import { assertNumber, assertOneOf } from "../validate.ts";
import { assertFiniteVector } from "./gae.ts";

/** Reward streams of {@link combineRewards}. */
export interface CombineRewardsOptions<T extends Values> {
  /** Credited process rewards, one per token; or one per step, and the verifiable reward joins the last step. */
  process: Ragged<T>;
  /** One per response: 1 solved, 0 not, NaN no reference answer known (adds nothing). */
  verifiable: T;
  /** Factor of the verifiable reward. Default 1. */
  coefficient?: number;
  /** `"minus-one-zero"` (default): solved adds 0, not solved -1; `"zero-one"`: solved adds 1, not solved 0. */
  verifiableCoding?: "zero-one" | "minus-one-zero";
  /** Where it is added: the last counted token (default) or every counted token. */
  place?: "last" | "every";
  /** One per element of `process`: 0 gets +0. */
  mask?: Mask;
  /** Reused for the result; may be the data of `process`. */
  out?: T;
}

/**
 * Adds the verifiable reward of each response to its process rewards, as a stream of its own: after credit
 * assignment, so that min-form never takes a minimum over it. A response without a counted token gets nothing.
 * On a GPU a verifiable reward that is none of 0, 1 and NaN is told by the next download.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE` for a verifiable reward other than 0, 1 and
 * NaN, `ERR_SHAPE`; {@link NumericError} `ERR_NOT_FINITE` naming row and position
 */
export function combineRewards<T extends Values>(options: CombineRewardsOptions<T>): Ragged<Owned<T>> {
  const {
    process,
    verifiable,
    coefficient = 1,
    verifiableCoding = "minus-one-zero",
    place = "last",
  } = options;
  assertRaggedValues(process, "process");
  assertNumber(coefficient, "coefficient");
  assertOneOf(verifiableCoding, "verifiableCoding", ["zero-one", "minus-one-zero"]);
  assertOneOf(place, "place", ["last", "every"]);
  const rows = process.offsets.length - 1;
  assertVectorLike(verifiable, "verifiable", rows, process.data, "process.data");
  const added = allocate(process.data, rows) as Values;
  const shift = verifiableCoding === "zero-one" ? 0 : -1;
  const { codeVerifiable } = addon().advantage;
  assertVerifiable(launch("combineRewards", codeVerifiable, verifiable, shift, added), verifiable);
  return addPerRow(process, "process", added as T, coefficient, place, options);
}

function assertVerifiable(status: Status, verifiable: Values): void {
  whenKnown<Values>(status, { verifiable }, (row, named) => {
    if (row < 0) return;
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `verifiable[${row}]: expected 0, 1 or NaN, got ${valueAt(named.verifiable, row)}`,
    );
  });
}

/** Options of {@link combineAdvantages}. */
export interface CombineAdvantagesOptions<T extends Values> {
  /** Advantages per token. */
  tokens: Ragged<T>;
  /** Advantages per response. */
  responses: T;
  /** Factor of the response's advantage. Default 1. */
  coefficient?: number;
  /** One per token: 0 gets +0. */
  mask?: Mask;
  /** Reused for the result; may be the data of `tokens`. */
  out?: T;
}

/**
 * Adds an advantage per response to every counted token of it: `tokens_t + coefficient * responses_i`. With
 * {@link rloo} for both, the verifiable reward keeps a baseline of its own.
 *
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE`
 */
export function combineAdvantages<T extends Values>(options: CombineAdvantagesOptions<T>): Ragged<Owned<T>> {
  const { tokens, responses, coefficient = 1 } = options;
  assertRaggedValues(tokens, "tokens");
  assertNumber(coefficient, "coefficient");
  assertFiniteVector(responses, "responses", tokens.offsets.length - 1, tokens.data, "tokens.data");
  return addPerRow(tokens, "tokens", responses, coefficient, "every", options);
}

function addPerRow<T extends Values>(
  base: Ragged<T>,
  name: string,
  perRow: T,
  scale: number,
  place: "last" | "every",
  { mask, out }: { mask?: Mask; out?: T },
): Ragged<Owned<T>> {
  const { data, offsets } = base;
  const result = outputLike(out, data, data.length, "out", `${name}.data`);
  const status = launch(
    name === "process" ? "combineRewards" : "combineAdvantages",
    addon().advantage.addPerRow,
    data,
    perRow,
    offsets,
    scale,
    place === "last" ? 0 : 1,
    checkMask(mask, "mask", data.length, data),
    result,
  );
  assertStatus(status, offsets, { [name]: data });
  return { data: result, offsets };
}

/** @internal Every counted token of a response gets its value. */
export function spread<T extends Values>(
  perRow: T,
  offsets: Int32Array,
  mask: Mask | undefined,
  out: T | undefined,
): Ragged<Owned<T>> {
  const total = offsets[offsets.length - 1]!;
  const result = outputLike(out, perRow, total);
  const checked = checkMask(mask, "mask", total, perRow);
  launch("spread", addon().advantage.addPerRow, null, perRow, offsets, 1, 1, checked, result);
  return { data: result, offsets };
}

/** Options of {@link klReward}. */
export interface KlRewardOptions<T extends Values> {
  /** beta, from a {@link FixedKlController} or an {@link AdaptiveKlController}. */
  coefficient: number;
  /** One per token: 0 gets +0, so the KL of tool output costs nothing. */
  mask?: Mask;
  /** Reused for the result; may be the data of either input. */
  out?: T;
}

/**
 * Token rewards with the KL penalty taken off: `R_t - beta kl_t`. For an estimator with a baseline this puts the
 * penalty inside the baseline; {@link rloo} takes `kl` with `placement: "after"` to keep it out.
 *
 * @param rewards - finite token rewards
 * @param kl - finite KL values per token, any estimator
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` naming argument, row and position
 */
export function klReward<T extends Values>(
  rewards: Ragged<T>,
  kl: Ragged<T>,
  options: KlRewardOptions<T>,
): Ragged<Owned<T>> {
  const { coefficient, mask, out } = options;
  assertRaggedValues(rewards, "rewards");
  assertLike(kl, "kl", rewards, "rewards");
  assertNumber(coefficient, "coefficient");
  const { data, offsets } = rewards;
  const result = outputLike(out, data, data.length, "out", "rewards.data");
  const status = launch(
    "klReward",
    addon().advantage.klReward,
    data,
    kl.data,
    offsets,
    coefficient,
    checkMask(mask, "mask", data.length, data),
    result,
  );
  assertStatus(status, offsets, { rewards: data, kl: kl.data });
  return { data: result, offsets };
}
