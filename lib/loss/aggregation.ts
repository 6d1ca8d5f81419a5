import { type Status, whenKnown } from "../cuda/status.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import type { PlacedValue } from "../cuda/value.ts";
import { ArgumentError, NumericError } from "../errors.ts";
import type { FloatArray, Values } from "../ragged.ts";
import { assertStatus, valueAt } from "../kernel-status.ts";
import { assertNumber, assertOneOf, checkGroups, describe, typeName } from "../validate.ts";
import type { AggregationArguments, Slots } from "./kernels.ts";

/**
 * How the losses of tokens become one number, `sum_i w_i sum_t loss_it / denominator`, with L_i the counted tokens of
 * response i:
 *
 * - `"token-mean"`: w = 1, denominator = counted tokens.
 * - `"seq-mean-token-sum"`: w = 1, denominator = responses with a counted token.
 * - `"seq-mean-token-mean"`: w = 1 / L_i, same denominator.
 * - `"prompt-mean"`: w = 1 / (counted tokens of the response's prompt), denominator = prompts: the mean over prompts of
 *   each prompt's token mean.
 * - `"sum"`: w = 1, denominator = 1 (pass `denominator` for a constant normaliser such as responses x maximal length).
 */
export type Aggregation = "token-mean" | "seq-mean-token-sum" | "seq-mean-token-mean" | "prompt-mean" | "sum";

// In the order of AggregationMode in native/include/minform/loss.h.
const MODES = ["token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "prompt-mean", "sum"] as const;

/** Options that every loss takes: how tokens are aggregated, and by what the sum is divided. */
export interface AggregationOptions {
  /** Default `"token-mean"`, where the loss does not say otherwise. */
  aggregation?: Aggregation;
  /**
   * What the sum is divided by, >= 0. Default: the `count` of this call. To split a batch into micro-batches (or over
   * ranks), pass the count of the whole batch: the values and gradients of the parts then add up to the whole's.
   */
  denominator?: number;
  /**
   * For `"prompt-mean"`: the counted tokens of the response's whole prompt in the whole batch, one per response. Needed
   * when the responses of a prompt are split over calls; else `groups` will do.
   */
  promptTokens?: ArrayLike<number>;
  /** For `"prompt-mean"` without `promptTokens`: the prompt of each response. */
  groups?: ArrayLike<number | string>;
}

/** What every loss returns beside its gradient. */
export interface AggregatedLoss<T extends Values = FloatArray> {
  /** `sum / (denominator ?? count)`; 0 when that is 0. */
  readonly loss: PlacedValue<T, number>;
  /** The weighted sum over tokens, not divided. */
  readonly sum: PlacedValue<T, number>;
  /**
   * What a call without `denominator` divides by. Counts of micro-batches add up to the count of the batch: tokens for
   * `"token-mean"`, responses with a counted token for `"seq-mean-..."`, prompts (in parts, by tokens) for
   * `"prompt-mean"`. `"sum"` has a count of 1 per call.
   */
  readonly count: PlacedValue<T, number>;
}

/** @internal Slots of the kernels' statistics, as LossSlot in native/include/minform/loss.h. */
export const SLOT = { loss: 0, sum: 1, count: 2, tokens: 3, highest: 4, lowest: 5, tallies: 6 } as const;

const SLOTS = 16;

/** @internal A fresh array for the kernels' statistics, where `like` is. */
export function newSlots(like: Values): Slots {
  return like instanceof DeviceTensor ? like.stream.allocate("float64", [SLOTS]) : new Float64Array(SLOTS);
}

type Readers = Record<string, (slots: Float64Array) => unknown>;

/** @internal What the readers find in the slots: on the host now, on the device when it is asked for. */
export function valuesOf<T extends Values, R extends Readers>(
  slots: Slots,
  readers: R,
): { [Name in keyof R]: PlacedValue<T, ReturnType<R[Name]>> } {
  const read = ([name, reader]: [string, Readers[string]]) => [
    name,
    slots instanceof DeviceTensor ? { download: async () => reader(await slots.download()) } : reader(slots),
  ];
  return Object.fromEntries(Object.entries(readers).map(read)) as never;
}

/** @internal Validates the aggregation options; the last of the arguments receives the statistics, where `like` is. */
export function aggregationArguments(
  options: AggregationOptions,
  rows: number,
  like: Values,
  otherwise: Aggregation = "token-mean",
): AggregationArguments {
  const { aggregation = otherwise, denominator, promptTokens, groups } = options;
  assertOneOf(aggregation, "aggregation", MODES);
  if (denominator !== undefined) assertNumber(denominator, "denominator", { low: 0 });
  let prompts: Int32Array | null = null;
  let tokens: Float64Array | null = null;
  if (aggregation === "prompt-mean") {
    if (promptTokens !== undefined) tokens = tokenCounts(promptTokens, rows);
    else if (groups !== undefined) prompts = checkGroups(groups, rows).index;
    else {
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `promptTokens: expected promptTokens or groups with aggregation "prompt-mean", got neither`,
      );
    }
  }
  const placed = tokens !== null && like instanceof DeviceTensor ? like.stream.copyOf(tokens) : tokens;
  return [MODES.indexOf(aggregation), prompts, placed, denominator ?? Number.NaN, newSlots(like)];
}

function tokenCounts(counts: ArrayLike<number>, rows: number): Float64Array {
  if (counts === null || typeof counts !== "object" || typeof counts.length !== "number") {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `promptTokens: expected one count per response, got ${typeName(counts)}`,
    );
  }
  if (counts.length !== rows) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `promptTokens: expected ${rows} counts, one per response, got ${counts.length}`,
    );
  }
  for (let i = 0; i < rows; i++) assertNumber(counts[i], `promptTokens[${i}]`, { low: 0 });
  return Float64Array.from(counts);
}

/** @internal Arrays that may hold the bad value which a status is about. */
export interface LossSuspects {
  /** One per token. An infinite one is legal: only a NaN is its own fault. */
  logProbs?: Record<string, Values | undefined>;
  /** One per token, finite. */
  tokens?: Record<string, Values | undefined>;
  /** One per response, finite. */
  responses?: Record<string, Values | undefined>;
}

/** @internal Throws for a kernel's status. */
export function assertLossStatus(
  status: Status,
  offsets: Int32Array,
  { logProbs = {}, tokens = {}, responses = {} }: LossSuspects,
  promptTokens?: ArrayLike<number>,
): void {
  whenKnown<Values>(status, { ...logProbs, ...tokens, ...responses }, (found, named) => {
    if (found === -1) return;
    if (found <= -2) {
      const row = -2 - found;
      throw new ArgumentError(
        "ERR_ARGUMENT_VALUE",
        `promptTokens[${row}]: expected at least the counted tokens of the response, got ${describe(promptTokens?.[row])}`,
      );
    }
    for (const name of Object.keys(responses)) assertRowFinite(named[name], name, offsets, found);
    const perToken = Object.keys({ ...logProbs, ...tokens }).map((name) => {
      const innocent = name in logProbs && !Number.isNaN(valueAt(named[name], found));
      return [name, innocent ? undefined : (named[name] ?? undefined)] as const;
    });
    assertStatus(found, offsets, Object.fromEntries(perToken));
  });
}

function assertRowFinite(
  values: Values | null | undefined,
  name: string,
  offsets: Int32Array,
  token: number,
): void {
  const row = offsets.findLastIndex((offset) => offset <= token);
  const value = valueAt(values, row);
  if (value === undefined || Number.isFinite(value)) return;
  throw new NumericError("ERR_NOT_FINITE", `${name}: expected a finite number at row ${row}, got ${value}`);
}

/** @internal Readers of loss, sum and count. */
export const aggregated = {
  loss: (slots: Float64Array): number => slots[SLOT.loss]!,
  sum: (slots: Float64Array): number => slots[SLOT.sum]!,
  count: (slots: Float64Array): number => slots[SLOT.count]!,
};

/** @internal `sum / count`, 0 for an empty sum. */
export function meanOf(sum: number, count: number): number {
  return count === 0 ? 0 : sum / count + 0;
}

/** @internal Asserts an object of named arguments. */
export function assertObject(value: unknown, name: string): void {
  if (value === null || typeof value !== "object") {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `${name}: expected an object, got ${typeName(value)}`);
  }
}

/** @internal Asserts a clamp of log-ratios whose exp is finite in float32. */
export function assertClamp(logRatioClamp: unknown): void {
  assertNumber(logRatioClamp, "logRatioClamp", { low: 0, high: 80, open: true });
}
