import { launch, onStream } from "../cuda/launch.ts";
import { whenKnown } from "../cuda/status.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import type { PlacedValue } from "../cuda/value.ts";
import { NumericError } from "../errors.ts";
import { addon } from "../load.ts";
import type { FloatArray, FloatTensor, Values } from "../ragged.ts";
import { valueAt } from "../kernel-status.ts";
import { assertNumber } from "../validate.ts";
import { DeviceNorm, DeviceScale, throwBeyond } from "./scale.ts";
import { assertDisjoint, checkTensors, type NamedTensor, type TensorList } from "./tensors.ts";

/** What {@link clipGradNormInPlace} found and did, and what {@link clipScale} found. */
export interface ClippedGradients<T extends Values = FloatArray> {
  /** Global L2 norm before clipping, >= 0. */
  readonly norm: PlacedValue<T, number>;
  /** What the gradients were, or are to be, multiplied by, in [0, 1]; 1 leaves them alone. */
  readonly scale: PlacedValue<T, number>;
}

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
  const found = areOnDevice(tensors)
    ? deviceScale("gradNorm", tensors, 1).norm
    : hostScale(asHost(tensors), 1).norm;
  return found as PlacedValue<T, number>;
}

function areOnDevice(tensors: readonly NamedTensor<Values>[]): tensors is NamedTensor<FloatTensor>[] {
  return tensors[0]!.data instanceof DeviceTensor;
}

function asHost(tensors: readonly NamedTensor<Values>[]): readonly NamedTensor<FloatArray>[] {
  return tensors as readonly NamedTensor<FloatArray>[];
}

// Norm, and the scale that brings it down to maxNorm.
function deviceScale(
  name: string,
  tensors: readonly NamedTensor<FloatTensor>[],
  maxNorm: number,
): { norm: DeviceNorm; scale: DeviceScale } {
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
  return { norm: new DeviceNorm(found), scale: new DeviceScale(found) };
}

function throwBad(name: string, index: number, value: number | undefined): never {
  throw new NumericError(
    "ERR_NOT_FINITE",
    `${name}: expected a finite number at index ${index}, got ${value}`,
  );
}

function hostScale(
  tensors: readonly NamedTensor<FloatArray>[],
  maxNorm: number,
): { norm: number; scale: number } {
  const found = new Float64Array(2);
  const statuses = addon().optim.gradNorm(maxNorm, found, ...tensors.map(({ data }) => data));
  for (const [i, index] of statuses.entries())
    if (index >= 0) throwBad(tensors[i]!.name, index, tensors[i]!.data[index]);
  const [norm, scale] = found as unknown as [number, number];
  if (Number.isNaN(norm)) throwBeyond();
  return { norm, scale };
}

/**
 * The scale of {@link clipGradNormInPlace} alone: `min(1, maxNorm / (norm + 1e-6))`. As `gradScale` of
 * {@link adamWInPlace} the step clips without a pass over the gradients of its own, on a GPU without a copy to the host.
 *
 * @param grads - gradients, one array or one per tensor
 * @param maxNorm - > 0, in the unit of the gradients
 * @throws as {@link gradNorm}, and {@link ArgumentError} `ERR_ARGUMENT_VALUE` for `maxNorm`
 */
export function clipScale<T extends Values>(grads: TensorList<T>, maxNorm: number): ClippedGradients<T> {
  const tensors: readonly NamedTensor<Values>[] = checkTensors(grads, "grads");
  assertNumber(maxNorm, "maxNorm", { low: 0, open: true });
  const found = areOnDevice(tensors)
    ? deviceScale("clipScale", tensors, maxNorm)
    : hostScale(asHost(tensors), maxNorm);
  return found as ClippedGradients<T>;
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
  const found = hostScale(tensors, maxNorm);
  if (found.scale < 1) for (const { data } of tensors) addon().optim.scale(data, found.scale);
  return found;
}

function clipOnDevice(
  tensors: readonly NamedTensor<FloatTensor>[],
  maxNorm: number,
): ClippedGradients<FloatTensor> {
  const found = deviceScale("clipGradNormInPlace", tensors, maxNorm);
  const { tensor } = found.scale;
  for (const { data } of tensors) launch("clipGradNormInPlace", addon().optim.scale, data, tensor);
  return found;
}
