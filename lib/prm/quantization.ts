import { ArgumentError } from "../errors.ts";
import type { PrmItem } from "./items.ts";
import type { Prm } from "./prm.ts";

/** How far the scores of two PRMs lie apart, in units of the score. */
export interface ScoreDifference {
  /** Steps that both gave a score. */
  readonly steps: number;
  /** Largest absolute difference of a step's score. */
  readonly max: number;
  /** Mean absolute difference. */
  readonly mean: number;
}

/**
 * Scores the same items with two PRMs and compares the steps: what quantised weights do to the scores of a checkpoint
 * (load it with `quantize` and without).
 *
 * @param prm - for example one loaded with `quantize`
 * @param reference - the same checkpoint with its weights as stored
 * @param items - at least one
 * @throws {@link ArgumentError} `ERR_ARGUMENT_VALUE` when the two have different conventions, `ERR_SHAPE` for no items;
 * otherwise as {@link Prm.score}
 */
export async function compareScores(
  prm: Prm,
  reference: Prm,
  items: readonly PrmItem[],
): Promise<ScoreDifference> {
  const [name, other] = [prm.convention.name, reference.convention.name];
  if (name !== other)
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `reference: expected the convention ${name}, got ${other}`);
  if (items.length === 0) throw new ArgumentError("ERR_SHAPE", "items: expected at least one, got none");
  const [scores, references] = [await prm.score(items), await reference.score(items)];
  const differences = scores.flatMap(({ values }, i) =>
    Array.from(values, (value, k) => Math.abs(value - references[i]!.values[k]!)),
  );
  const known = differences.filter((difference) => !Number.isNaN(difference));
  const sum = known.reduce((total, difference) => total + difference, 0);
  return { steps: known.length, max: Math.max(0, ...known), mean: sum / Math.max(1, known.length) };
}
