import { NumericError } from "../errors.ts";
import { addon } from "../load.ts";
import type { FloatArray } from "../ragged.ts";
import { assertNumber } from "../validate.ts";
import { assertDisjoint, checkTensors, type NamedTensor, type TensorList } from "./tensors.ts";

/** What {@link clipGradNormInPlace} found and did. */
export interface ClippedGradients {
  /** Global L2 norm before clipping, >= 0. */
  readonly norm: number;
  /** What the gradients were multiplied by, in [0, 1]; 1 when they were left alone. */
  readonly scale: number;
}

// torch.nn.utils.clip_grad_norm_ adds this to the norm.
const CLIP_EPSILON = 1e-6;

/**
 * Global L2 norm of gradients: the root of the sum of squares over all elements of all tensors.
 *
 * Sums of squares accumulate in float64 over blocks of 32768 elements, folded in order of tensors and blocks: same
 * bits for every number of threads and every instruction set. Relative error at most 1e-12 for up to 2^31 elements.
 * float32 gradients can neither overflow nor underflow; float64 gradients whose squares would are rescaled.
 *
 * @param grads - gradients, one array or one per tensor
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_SHAPE`; {@link NumericError} `ERR_NOT_FINITE` for NaN or
 * infinity (naming tensor and index), and for a norm beyond the range of float64
 */
export function gradNorm<T extends FloatArray>(grads: TensorList<T>): number {
  return norm(checkTensors(grads, "grads"));
}

function norm(tensors: readonly NamedTensor<FloatArray>[]): number {
  const { optim } = addon();
  const sumOfSquares = (scale: number) =>
    tensors.reduce((sum, { data }) => sum + optim.sumOfSquares(data, scale), 0);
  const plain = sumOfSquares(1);
  if (plain >= 1e-280 && plain < Infinity) return Math.sqrt(plain);

  // Zero, underflow, overflow, NaN or infinity: look at the largest element and divide by a power of two near it.
  let largest = 0;
  for (const { name, data } of tensors) {
    const found = optim.largestMagnitude(data);
    if (found.bad >= 0) {
      throw new NumericError(
        "ERR_NOT_FINITE",
        `${name}: expected a finite number at index ${found.bad}, got ${data[found.bad]}`,
      );
    }
    largest = Math.max(largest, found.largest);
  }
  if (largest === 0) return 0;
  const scale = 2 ** Math.min(1023, Math.max(-1022, Math.floor(Math.log2(largest))));
  const scaled = Math.sqrt(sumOfSquares(scale)) * scale;
  if (scaled === Infinity) {
    throw new NumericError("ERR_NOT_FINITE", "grads: expected a norm within float64, got more than 1.8e308");
  }
  return scaled;
}

/**
 * Scales gradients in place so that their global norm does not exceed `maxNorm`, as `torch.nn.utils.clip_grad_norm_`:
 * `scale = min(1, maxNorm / (norm + 1e-6))`. The 1e-6 leaves a clipped norm just below `maxNorm`. Gradients are only
 * written when scale < 1, each as the product in float64, rounded once. A norm that is not finite is an error, and
 * nothing has changed then.
 *
 * @param grads - gradients, one array or one per tensor; no two may share memory
 * @param maxNorm - >= 0, in the unit of the gradients
 * @throws as {@link gradNorm}, and {@link ArgumentError} `ERR_ARGUMENT_VALUE` for `maxNorm` or shared memory
 */
export function clipGradNormInPlace<T extends FloatArray>(
  grads: TensorList<T>,
  maxNorm: number,
): ClippedGradients {
  const tensors = checkTensors(grads, "grads");
  assertDisjoint(tensors);
  assertNumber(maxNorm, "maxNorm", { low: 0 });
  const found = norm(tensors);
  const scale = Math.min(1, maxNorm / (found + CLIP_EPSILON));
  if (scale < 1) for (const { data } of tensors) addon().optim.scale(data, scale);
  return { norm: found, scale };
}
