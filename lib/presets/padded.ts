import type { GroupIds } from "../advantage/index.ts";
import { ArgumentError, NumericError } from "../errors.ts";
import { addon } from "../load.ts";
import type { FloatArray, Owned } from "../ragged.ts";
import { allocate } from "../placed-values.ts";
import { type ArrayName, assertCount, assertVector, checkGroups, FLOATS, typeName } from "../validate.ts";
import type {
  AggregateRule,
  GroupRule,
  KlRule,
  PolicyRule,
  PolicyStats,
  ReturnRule,
  ValueRule,
  WhitenRule,
} from "./kernels.ts";

/**
 * The shape of a padded batch. Every array of tokens beside it has `rows * width` elements, row-major: token `t` of
 * response `i` is at `i * width + t`. Padding may be left, right or on both sides. Unlike everywhere else in this
 * library it is read, because the peers read it.
 */
export interface PaddedBatch {
  /** Number of responses, at least 1. */
  readonly rows: number;
  /** Padded length, at least 1. */
  readonly width: number;
  /** `[rows, width]`, 1 where a token counts and 0 at padding and holes. */
  readonly responseMask: Uint8Array;
}

/** Token-level advantages and returns, `[rows, width]`, in the dtype of the input. */
export interface PaddedAdvantages<T extends FloatArray> {
  /** `[rows, width]`; what stands outside the mask is what the peer leaves there. */
  readonly advantages: Owned<T>;
  /** `[rows, width]`, as `advantages`. */
  readonly returns: Owned<T>;
}

/** A peer's policy loss. */
export interface PaddedPolicyLoss<T extends FloatArray> {
  /** The scalar the peer minimises. */
  readonly loss: number;
  /** Share of tokens whose clipped term is the larger one (CISPO: whose weight is clipped). */
  readonly clipFraction: number;
  /** Share of tokens held by the dual clip (GMPO: clipped with a negative advantage). */
  readonly clipFractionLower: number;
  /** Mean of log pi_old - log pi over the tokens, after the peer's clamp if it has one. */
  readonly ppoKl: number;
  /** d loss / d log-probs, `[rows, width]`; +0 outside the mask. */
  readonly gradLogProbs: Owned<T>;
}

/** A peer's value loss. */
export interface PaddedValueLoss<T extends FloatArray> {
  /** Half the aggregated squared error. */
  readonly loss: number;
  /** Share of tokens whose clipped error is the larger one. */
  readonly clipFraction: number;
  /** d loss / d predicted values, `[rows, width]`; +0 outside the mask. */
  readonly gradValues: Owned<T>;
}

/** A KL estimate per token. */
export interface PaddedKl<T extends FloatArray> {
  /** `[rows, width]`, also outside the mask. */
  readonly values: Owned<T>;
  /** d value / d log-prob of each token, as the peer's own expression back-propagates; +0 outside the mask. */
  readonly gradLogProbs: Owned<T>;
}

/** @internal What the preset functions start from: the checked batch, its dtype, and the kernels bound to it. */
export class Padded<T extends FloatArray> {
  readonly rows: number;
  readonly width: number;
  readonly mask: Uint8Array;
  private readonly model: T;

  constructor({ rows, width, responseMask }: PaddedBatch, model: T) {
    this.rows = rows;
    this.width = width;
    this.mask = responseMask;
    this.model = model;
  }

  /** Asserts one value per token. */
  tokens(value: T, name: string): T {
    assertVector(value, name, this.rows * this.width, [typeName(this.model) as ArrayName]);
    return value;
  }

  /** Asserts one value per response. */
  perRow(value: T, name: string): T {
    assertVector(value, name, this.rows, [typeName(this.model) as ArrayName]);
    return value;
  }

  /** Asserts one flag per token. */
  flags(value: Uint8Array, name: string): Uint8Array {
    assertFlags(value, name, this.rows * this.width);
    return value;
  }

  groups(ids: GroupIds, name = "index"): { index: Int32Array; count: number } {
    return checkGroups(ids, this.rows, name);
  }

  newTokens(): Owned<T> {
    return allocate(this.model, this.rows * this.width);
  }

  newRows(): Owned<T> {
    return allocate(this.model, this.rows);
  }

  /** Sum of every row, of all its width or masked. */
  rowSums(values: T | Owned<T>, masked = false): Owned<T> {
    const out = this.newRows();
    addon().presets.rowSums(this.mask, this.width, values, masked, out);
    return out;
  }

  /** Flags of every row that are set; by default those of the mask. */
  lengths(flags = this.mask): Owned<T> {
    const out = this.newRows();
    addon().presets.rowSums(flags, this.width, this.newTokens().fill(1), true, out);
    return out;
  }

  /** Row values times the mask. */
  spread(rowValues: Owned<T>): Owned<T> {
    const out = this.newTokens();
    addon().presets.spread(this.mask, this.width, rowValues, out);
    return out;
  }

  subtractRows(
    values: T | Owned<T>,
    rowValues: T | Owned<T>,
    {
      weights,
      only,
      keepElsewhere = false,
    }: { weights?: T | Owned<T>; only?: Uint8Array; keepElsewhere?: boolean } = {},
  ): Owned<T> {
    const out = this.newTokens();
    addon().presets.subtractRows(
      this.mask,
      this.width,
      values,
      rowValues,
      weights ?? null,
      only ?? null,
      keepElsewhere,
      out,
    );
    return out;
  }

  /** A copy of the values with a row value added at each row's last token. */
  addAtLast(values: T | Owned<T>, rowValues: T | Owned<T>): Owned<T> {
    const out = values.slice() as Owned<T>;
    addon().presets.addAtLast(this.mask, this.width, rowValues, out);
    return out;
  }

  stepTokens(stepEndMask: Uint8Array): Owned<T> {
    const out = this.newTokens();
    addon().presets.stepTokens(this.mask, this.width, stepEndMask, out);
    return out;
  }

  returns(rewards: T | Owned<T>, rule: ReturnRule): Owned<T> {
    const out = this.newTokens();
    addon().presets.returns(this.mask, this.width, rewards, rule, out);
    return out;
  }

  gae(rewards: T, values: T, use: number, gamma: number, lambda: number): PaddedAdvantages<T> {
    const advantages = this.newTokens();
    const returns = this.newTokens();
    addon().presets.gae(this.mask, this.width, rewards, values, use, gamma, lambda, advantages, returns);
    return { advantages, returns };
  }

  whiten(values: T | Owned<T>, rule: WhitenRule): Owned<T> {
    const out = this.newTokens();
    if (!addon().presets.whiten(this.mask, this.width, values, rule, out)) {
      throw new NumericError(
        "ERR_NOT_FINITE",
        "responseMask: expected at least two tokens to whiten over (the peer refuses fewer too)",
      );
    }
    return out;
  }

  policyLoss(
    logProbs: T,
    oldLogProbs: T,
    advantages: T,
    rule: PolicyRule,
    aggregate: AggregateRule,
  ): PaddedPolicyLoss<T> {
    const gradient = this.newTokens();
    const stats = addon().presets.policyLoss(
      this.mask,
      this.width,
      logProbs,
      oldLogProbs,
      advantages,
      rule,
      aggregate,
      gradient,
    );
    return policyResult(stats, gradient);
  }

  geometricMeanLoss(logProbs: T, oldLogProbs: T, advantages: T, rule: PolicyRule): PaddedPolicyLoss<T> {
    const gradient = this.newTokens();
    const stats = addon().presets.geometricMeanLoss(
      this.mask,
      this.width,
      logProbs,
      oldLogProbs,
      advantages,
      rule,
      gradient,
    );
    return policyResult(stats, gradient);
  }

  aggregate(losses: T, rule: AggregateRule): number {
    return addon().presets.aggregate(this.mask, this.width, losses, rule);
  }

  kl(logProbs: T, refLogProbs: T, rule: KlRule): PaddedKl<T> {
    const values = this.newTokens();
    const gradLogProbs = this.newTokens();
    addon().presets.kl(this.mask, this.width, logProbs, refLogProbs, rule, values, gradLogProbs);
    return { values, gradLogProbs };
  }

  valueLoss(predicted: T, old: T, returns: T, rule: ValueRule, aggregate: AggregateRule): PaddedValueLoss<T> {
    const gradValues = this.newTokens();
    const { loss, clipFraction } = addon().presets.valueLoss(
      this.mask,
      this.width,
      predicted,
      old,
      returns,
      rule,
      aggregate,
      gradValues,
    );
    return { loss, clipFraction, gradValues };
  }
}

/** @internal Checks the shape of a batch, and `model`, `[rows, width]` or `[rows]`: the field that decides the dtype. */
export function openBatch<T extends FloatArray>(
  batch: PaddedBatch,
  name: string,
  model: T,
  perRow = false,
): Padded<T> {
  if (batch === null || typeof batch !== "object") {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `batch: expected an object, got ${typeName(batch)}`);
  }
  const { rows, width, responseMask } = batch;
  assertCount(rows, "rows");
  assertCount(width, "width");
  if (rows === 0 || width === 0) {
    throw new ArgumentError("ERR_SHAPE", `rows, width: expected at least 1, got ${rows} x ${width}`);
  }
  assertFlags(responseMask, "responseMask", rows * width);
  assertVector(model, name, perRow ? rows : rows * width, FLOATS);
  return new Padded(batch, model);
}

function policyResult<T extends FloatArray>(stats: PolicyStats, gradLogProbs: Owned<T>): PaddedPolicyLoss<T> {
  const { loss, clipFraction, clipFractionLower, kl } = stats;
  return { loss, clipFraction, clipFractionLower, ppoKl: kl, gradLogProbs };
}

function assertFlags(value: Uint8Array, name: string, length: number): void {
  assertVector(value, name, length, ["Uint8Array"]);
  const wrong = value.findIndex((flag) => flag > 1);
  if (wrong >= 0) {
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `${name}[${wrong}]: expected 0 or 1, got ${value[wrong]}`);
  }
}

/** @internal Scores relative to their groups. */
export function groupScores<T extends FloatArray>(
  groups: { index: Int32Array; count: number },
  scores: T | Owned<T>,
  rule: Partial<GroupRule> & { form: number; singleton: number },
): Owned<T> {
  const out = allocate(scores as T, scores.length);
  addon().presets.groupScores(groups.index, groups.count, scores, { epsilon: 0, factor: 1, ...rule }, out);
  return out;
}

/** @internal (sum of a over the others of the group) / (sum of b over them, or their number). */
export function othersRatio<T extends FloatArray>(
  groups: { index: Int32Array; count: number },
  a: T | Owned<T>,
  b: Owned<T> | null = null,
): Owned<T> {
  const out = allocate(a as T, a.length);
  addon().presets.othersRatio(groups.index, groups.count, a, b, out);
  return out;
}

/** @internal Weighted mean of the group's scores, 0 in a group of one. */
export function weightedMeans<T extends FloatArray>(
  groups: { index: Int32Array; count: number },
  scores: Owned<T>,
  weights: Owned<T>,
): Owned<T> {
  const out = allocate(scores as unknown as T, scores.length);
  addon().presets.weightedMeans(groups.index, groups.count, scores, weights, out);
  return out;
}
