import type { NativeArray } from "../cuda/kernels.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import type { PlacedValue } from "../cuda/value.ts";
import { ArgumentError, NumericError } from "../errors.ts";
import { addon } from "../load.ts";
import type { Owned, Ragged, Values } from "../ragged.ts";
import { assertOneOf, checkGroups, describe } from "../validate.ts";

/**
 * What a response gets that has no sibling to be compared with: advantage 0 (`"zero"`), its own reward with baseline 0
 * and deviation 1 (`"raw"`), or an `ERR_SINGLETON_GROUP` error (`"error"`).
 */
export type SingletonPolicy = "zero" | "error" | "raw";

/**
 * What a NaN reward means: an `ERR_NOT_FINITE` error naming the row (`"error"`), or that the response could not be
 * scored: it is left out of its group and gets advantage 0 (`"exclude"`). An infinite reward is always an error.
 */
export type UnscorablePolicy = "error" | "exclude";

/** One id per response: equal ids, equal prompt. Any order, any group sizes; the number 1 and the string "1" differ. */
export type GroupIds = ArrayLike<number | string>;

/** What every estimator that compares within groups takes. */
export interface GroupOptions {
  /** A response without siblings, default `"zero"`. On a GPU the error of `"error"` comes when `stats` is downloaded. */
  singleton?: SingletonPolicy;
  /** A NaN reward, default `"error"`. */
  unscorable?: UnscorablePolicy;
}

/** How the groups of a batch were made up. */
export interface GroupStats {
  /** Distinct group ids. */
  readonly groups: number;
  /** Groups in which one response alone takes part: nothing to compare it with. */
  readonly singletons: number;
  /** Groups of two or more whose rewards are all equal: they teach nothing. */
  readonly zeroVariance: number;
  /** Responses left out because their reward is NaN. */
  readonly excluded: number;
}

/** Advantages per response. */
export interface OutcomeAdvantages<T extends Values> {
  /** One per response, in the dtype of the rewards. */
  readonly advantages: Owned<T>;
  /** How the groups were made up. */
  readonly stats: PlacedValue<T, GroupStats>;
}

/** Advantages and returns per token. */
export interface TokenEstimate<T extends Values> {
  /** One per token, in the dtype of the rewards; +0 where the mask is 0. */
  readonly advantages: Ragged<Owned<T>>;
  /** Reward-to-go per token; +0 where the mask is 0. */
  readonly returns: Ragged<Owned<T>>;
}

/** {@link TokenEstimate} of an estimator that compares within groups. */
export interface TokenAdvantages<T extends Values> extends TokenEstimate<T> {
  /** How the groups were made up. */
  readonly stats: PlacedValue<T, GroupStats>;
}

/** @internal Group index per row, number of groups, raw singletons, NaN excludes. */
export type NativeGroups = [index: Int32Array, count: number, rawSingletons: boolean, excludeNaN: boolean];

/** @internal Where a kernel puts its GroupStats. */
export type NativeStats = BigInt64Array | NativeArray;

/** @internal Validated groups, and the kernel's statistics about them. */
export class GroupCall {
  readonly native: NativeGroups;
  readonly stats: NativeStats;
  readonly #ids: GroupIds;
  readonly #singleton: SingletonPolicy;
  readonly #like: Values;

  /** @param like - where it is, the statistics will be */
  constructor(ids: GroupIds, rows: number, options: GroupOptions, like: Values) {
    const { singleton = "zero", unscorable = "error" } = options;
    assertOneOf(singleton, "singleton", ["zero", "error", "raw"]);
    assertOneOf(unscorable, "unscorable", ["error", "exclude"]);
    const { index, count } = checkGroups(ids, rows);
    this.#ids = ids;
    this.#singleton = singleton;
    this.#like = like;
    this.stats = like instanceof DeviceTensor ? like.stream.integers(5) : new BigInt64Array(5);
    this.native = [index, count, singleton === "raw", unscorable === "exclude"];
  }

  /** The statistics; throws for a group of one under `singleton: "error"`. */
  finish<T extends Values>(): PlacedValue<T, GroupStats> {
    const { stats } = this;
    const like = this.#like;
    if (stats instanceof BigInt64Array) return this.#read(stats) as PlacedValue<T, GroupStats>;
    const download = async () => {
      const values = new BigInt64Array(5);
      await (like as DeviceTensor).stream.checked(addon().device.download(stats, 0, values));
      return this.#read(values);
    };
    return { download } as PlacedValue<T, GroupStats>;
  }

  #read(stats: BigInt64Array): GroupStats {
    const [groups, singletons, zeroVariance, excluded, row] = Array.from(stats, Number) as [
      number,
      number,
      number,
      number,
      number,
    ];
    if (this.#singleton === "error" && row >= 0) {
      throw new NumericError(
        "ERR_SINGLETON_GROUP",
        `groups: expected at least two responses to compare in every group, got row ${row} alone in group ${describe(this.#ids[row])}`,
      );
    }
    return { groups, singletons, zeroVariance, excluded };
  }
}

/** @internal Asserts that offsets have one row per response. */
export function assertRowCount(offsets: Int32Array, name: string, rows: number, model: string): void {
  if (offsets.length - 1 !== rows) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `${name}: expected the ${rows} rows of ${model}, got ${offsets.length - 1}`,
    );
  }
}
