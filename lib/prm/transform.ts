import type { Head } from "../model/types.ts";
import type { BoundConvention } from "./bind.ts";
import type { Convention } from "./convention.ts";
import { sigmoid } from "./range.ts";

/** @internal The head that a convention reads. `classes` is what the checkpoint's own head has. */
export function headOf(bound: BoundConvention, classes: number): Head {
  switch (bound.convention.head) {
    case "token-classification":
      return { kind: "token-classification", classes };
    case "mlp":
      return { kind: "mlp", classes };
    case "lm-rows":
      return { kind: "lm-rows", tokenIds: bound.labels! };
    default:
      return { kind: bound.convention.head };
  }
}

/** @internal Highest class index that a convention's transform touches, plus one. */
export function classesNeeded({ score }: Convention): number {
  if (!score.transform.startsWith("softmax")) return 1;
  const good = typeof score.good === "number" ? [score.good] : score.good!;
  return 1 + Math.max(1, ...good, score.bad ?? 0);
}

/** @internal Score of one read from its raw outputs, in float64. */
export function scoreRead(convention: Convention, outputs: Float32Array): number {
  const { transform, good, bad } = convention.score;
  if (transform === "identity") return outputs[0]!;
  if (transform === "sigmoid") return sigmoid(outputs[0]!);
  const classes = typeof good === "number" ? [good] : good!;
  let most = -Infinity;
  for (const value of outputs) most = Math.max(most, value);
  let total = 0;
  for (const value of outputs) total += Math.exp(value - most);
  const share = (k: number): number => Math.exp(outputs[k]! - most) / total;
  const p = classes.reduce((sum, k) => sum + share(k), 0);
  return transform === "softmax" ? p : p - share(bad!);
}

/**
 * @internal Implicit rewards: beta (log p - log p_ref), summed over each step's tokens, or from the response's beginning
 * up to each step's end.
 */
export function logRatios(
  convention: Convention,
  model: Float32Array,
  reference: Float32Array,
  readsPerStep: readonly number[],
): number[] {
  const { beta, accumulate } = convention.score;
  let at = 0;
  let before = 0;
  return readsPerStep.map((count) => {
    let sum = 0;
    for (let i = 0; i < count; i++, at++) sum += model[at]! - reference[at]!;
    before += sum;
    return beta! * (accumulate === "cumulative" ? before : sum);
  });
}
