import { launch } from "../cuda/launch.ts";
import { whenKnown } from "../cuda/status.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import { ArgumentError, NumericError } from "../errors.ts";
import { addon } from "../load.ts";
import type { Values } from "../ragged.ts";
import { valueAt } from "../kernel-status.ts";
import { allocate, assertValues } from "../placed-values.ts";
import { assertCount, assertNumber, assertOneOf, typeName } from "../validate.ts";
import { GroupCall, type GroupIds, type GroupOptions, type OutcomeAdvantages } from "./groups.ts";
import { assertDdof } from "./whiten.ts";

/** Options of {@link grpo}. */
export interface GrpoOptions extends GroupOptions {
  /** What the differences are divided by: the group's standard deviation (default), the batch's, or nothing (Dr. GRPO). */
  std?: "group" | "batch" | "none";
  /** Added to the standard deviation, >= 0. Default 1e-6. */
  epsilon?: number;
  /** The variance is the sum of squares over n - ddof. Default 1. */
  ddof?: 0 | 1;
}

/** Options of {@link grpoPassK}. */
export interface GrpoPassKOptions extends GroupOptions {
  /** What the lead is divided by: the group's standard deviation (default) or nothing. */
  std?: "group" | "none";
  /** Added to the standard deviation, >= 0. Default 1e-6. */
  epsilon?: number;
  /** The variance is the sum of squares over n - ddof. Default 1. */
  ddof?: 0 | 1;
}

// In the order of OutcomeForm and GroupStd in native/include/minform/advantage.h.
const FORMS = ["rloo", "grpo", "passK", "opo"] as const;
const STDS = ["none", "group", "batch"] as const;

interface Rule {
  form: (typeof FORMS)[number];
  std?: (typeof STDS)[number];
  epsilon?: number;
  ddof?: 0 | 1;
  lengths?: ArrayLike<number>;
}

function checkLengths(lengths: ArrayLike<number>, rows: number): Float64Array {
  if (lengths === null || typeof lengths !== "object" || typeof lengths.length !== "number") {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `lengths: expected one number per response, got ${typeName(lengths)}`,
    );
  }
  if (lengths.length !== rows) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `lengths: expected ${rows} values, one per response, got ${lengths.length}`,
    );
  }
  return Float64Array.from(lengths, (length, i) => {
    assertCount(length, `lengths[${i}]`);
    return length;
  });
}

/** @internal Advantages of whole responses. */
export function outcomeAdvantages<T extends Values>(
  rewards: T,
  groups: GroupIds,
  options: GroupOptions,
  { form, std = "none", epsilon = 0, ddof = 1, lengths }: Rule,
): OutcomeAdvantages<T> {
  assertValues(rewards, "rewards");
  if (rewards.length === 0)
    throw new ArgumentError("ERR_SHAPE", "rewards: expected at least one response, got none");
  assertNumber(epsilon, "epsilon", { low: 0 });
  assertDdof(ddof);
  const call = new GroupCall(groups, rewards.length, options, rewards);
  const checkedLengths = lengths === undefined ? null : checkLengths(lengths, rewards.length);
  const advantages = allocate(rewards, rewards.length);
  const status = launch(
    form === "passK" ? "grpoPassK" : form,
    addon().advantage.outcomes,
    FORMS.indexOf(form),
    STDS.indexOf(std),
    epsilon,
    ddof,
    rewards,
    checkedLengths !== null && (rewards as Values) instanceof DeviceTensor
      ? (rewards as DeviceTensor).stream.copyOf(checkedLengths)
      : checkedLengths,
    ...call.native,
    advantages,
    call.stats,
  );
  whenKnown<Values>(status, { rewards }, (row, named) => {
    if (row < 0) return;
    throw new NumericError(
      "ERR_NOT_FINITE",
      `rewards: expected a finite number at row ${row}, got ${valueAt(named.rewards, row)}`,
    );
  });
  return { advantages, stats: call.finish<T>() };
}

/**
 * Group-relative advantages: `A_i = (r_i - mean) / (std + epsilon)` over the responses of a group. A group whose
 * rewards are all equal gets exactly 0.
 *
 * With `std: "batch"` the divisor is the deviation of all rewards of the batch. A group of one under
 * `singleton: "raw"` gets `r / (1 + epsilon)`. Mean and deviation take two passes over rewards measured from the
 * lowest of the group, so large common offsets cost no digits and no finite input overflows.
 *
 * Sources: DeepSeekMath, arXiv 2402.03300; without the division: Dr. GRPO, arXiv 2503.20783.
 *
 * @param rewards - one finite reward per response, any range
 * @param groups - one id per response
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` naming the row, `ERR_SINGLETON_GROUP`
 */
export function grpo<T extends Values>(
  rewards: T,
  groups: GroupIds,
  options: GrpoOptions = {},
): OutcomeAdvantages<T> {
  const { std = "group", epsilon = 1e-6, ddof = 1 } = options;
  assertOneOf(std, "std", ["group", "batch", "none"]);
  return outcomeAdvantages(rewards, groups, options, { form: "grpo", std, epsilon, ddof });
}

/**
 * Pass@k advantages: the best response of a group gets its lead over the second best, `(r_1 - r_2) / (std + epsilon)`,
 * every other one 0. A tie at the top gives 0 throughout.
 *
 * Source: pass@k training, arXiv 2503.19595.
 *
 * @param rewards - one finite reward per response
 * @param groups - one id per response
 * @throws as {@link grpo}
 */
export function grpoPassK<T extends Values>(
  rewards: T,
  groups: GroupIds,
  options: GrpoPassKOptions = {},
): OutcomeAdvantages<T> {
  const { std = "group", epsilon = 1e-6, ddof = 1 } = options;
  assertOneOf(std, "std", ["group", "none"]);
  return outcomeAdvantages(rewards, groups, options, { form: "passK", std, epsilon, ddof });
}

/**
 * Advantages over the length-weighted mean: `A_i = r_i - sum_j L_j r_j / sum_j L_j` over the whole group, the own
 * response included. A group in which every length is 0 counts as a singleton.
 *
 * Source: OPO, arXiv 2505.23585.
 *
 * @param rewards - one finite reward per response
 * @param lengths - tokens of each response, integers >= 0
 * @param groups - one id per response
 * @throws as {@link grpo}
 */
export function opo<T extends Values>(
  rewards: T,
  lengths: ArrayLike<number>,
  groups: GroupIds,
  options: GroupOptions = {},
): OutcomeAdvantages<T> {
  return outcomeAdvantages(rewards, groups, options, { form: "opo", lengths });
}
