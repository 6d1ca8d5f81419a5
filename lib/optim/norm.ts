import { launch, onStream } from "../cuda/launch.ts";
import { whenKnown } from "../cuda/status.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import type { PlacedValue } from "../cuda/value.ts";
import { NumericError } from "../errors.ts";
import { addon } from "../load.ts";
import type { FloatArray, FloatTensor, Values } from "../ragged.ts";
import { assertNumber, valueAt } from "../validate.ts";
import { assertDisjoint, checkTensors, type NamedTensor, type TensorList } from "./tensors.ts";

/** What {@link clipGradNormInPlace} found and did. */
export interface ClippedGradients<T extends Values = FloatArray> {
  /** Global L2 norm before clipping, >= 0. */
  readonly norm: PlacedValue<T, number>;
  /** What the gradients were multiplied by, in [0, 1]; 1 when they were left alone. */
  readonly scale: PlacedValue<T, number>;
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
export function gradNorm<T extends Values>(grads: TensorList<T>): PlacedValue<T, number> {
  const tensors: readonly NamedTensor<Values>[] = checkTensors(grads, "grads");
  const found = areOnDevice(tensors) ? read(deviceNorm("gradNorm", tensors, 1), 0) : norm(asHost(tensors));
  return found as PlacedValue<T, number>;
}

function areOnDevice(tensors: readonly NamedTensor<Values>[]): tensors is NamedTensor<FloatTensor>[] {
  return tensors[0]!.data instanceof DeviceTensor;
}

function asHost(tensors: readonly NamedTensor<Values>[]): readonly NamedTensor<FloatArray>[] {
  return tensors as readonly NamedTensor<FloatArray>[];
}

// Norm, and the scale that brings it down to maxNorm.
function deviceNorm(
  name: string,
  tensors: readonly NamedTensor<FloatTensor>[],
  maxNorm: number,
): DeviceTensor<"float64"> {
  const { stream } = tensors[0]!.data;
  const found = stream.allocate("float64", [2]);
  const arrays = tensors.map(({ data }) => data.array);
  const statuses = onStream(stream, name, tensors.length, (words, word) =>
    addon().optim.gradNorm(maxNorm, found.array, ...arrays, words, word),
  );
  for (const [i, { name: tensor, data }] of tensors.entries()) {
    whenKnown<Values>(statuses[i]!, { [tensor]: data }, (index, named) => {
      if (index >= 0) throwBad(tensor, index, valueAt(named[tensor], index));
    });
  }
  return found;
}

function read(found: DeviceTensor<"float64">, index: number): { download(): Promise<number> } {
  return {
    download: async () => {
      const value = (await found.download())[index]!;
      if (Number.isNaN(value)) throwBeyond();
      return value;
    },
  };
}

function throwBad(name: string, index: number, value: number | undefined): never {
  throw new NumericError(
    "ERR_NOT_FINITE",
    `${name}: expected a finite number at index ${index}, got ${value}`,
  );
}

function throwBeyond(): never {
  throw new NumericError("ERR_NOT_FINITE", "grads: expected a norm within float64, got more than 1.8e308");
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
    if (found.bad >= 0) throwBad(name, found.bad, data[found.bad]);
    largest = Math.max(largest, found.largest);
  }
  if (largest === 0) return 0;
  const scale = 2 ** Math.min(1023, Math.max(-1022, Math.floor(Math.log2(largest))));
  const scaled = Math.sqrt(sumOfSquares(scale)) * scale;
  if (scaled === Infinity) throwBeyond();
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
export function clipGradNormInPlace<T extends Values>(
  grads: TensorList<T>,
  maxNorm: number,
): ClippedGradients<T> {
  const tensors: readonly NamedTensor<Values>[] = checkTensors(grads, "grads");
  assertDisjoint(tensors);
  assertNumber(maxNorm, "maxNorm", { low: 0 });
  const clipped = areOnDevice(tensors)
    ? clipOnDevice(tensors, maxNorm)
    : clipOnHost(asHost(tensors), maxNorm);
  return clipped as ClippedGradients<T>;
}

function clipOnHost(tensors: readonly NamedTensor<FloatArray>[], maxNorm: number): ClippedGradients {
  const found = norm(tensors);
  const scale = Math.min(1, maxNorm / (found + CLIP_EPSILON));
  if (scale < 1) for (const { data } of tensors) addon().optim.scale(data, scale);
  return { norm: found, scale };
}

function clipOnDevice(
  tensors: readonly NamedTensor<FloatTensor>[],
  maxNorm: number,
): ClippedGradients<FloatTensor> {
  const found = deviceNorm("clipGradNormInPlace", tensors, maxNorm);
  for (const { data } of tensors) launch("clipGradNormInPlace", addon().optim.scale, data, found);
  return { norm: read(found, 0), scale: read(found, 1) };
}
