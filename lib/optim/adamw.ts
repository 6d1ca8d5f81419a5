import { ArgumentError, NumericError } from "../errors.ts";
import type { NativeArray } from "../cuda/kernels.ts";
import { launch } from "../cuda/launch.ts";
import { type Status, whenKnown } from "../cuda/status.ts";
import { assertLive, assertSamePlace } from "../cuda/place.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import type { DeviceValue } from "../cuda/value.ts";
import { addon } from "../load.ts";
import type { FloatArray, Values } from "../ragged.ts";
import { valueAt } from "../kernel-status.ts";
import { assertNumber, describe } from "../validate.ts";
import { DeviceScale } from "./scale.ts";
import { assertDisjoint, checkTensors, type NamedTensor, type TensorList } from "./tensors.ts";

/**
 * Parameters and the state of their optimiser: four arrays of the same length and dtype, or four lists of them (one
 * array per parameter tensor, in the same order). No two may share memory. Moments start at 0.
 */
export interface AdamWState<T extends Values = FloatArray> {
  /** Updated in place. */
  params: TensorList<T>;
  /** d loss / d params; read only. */
  grads: TensorList<T>;
  /** Moving average of the gradient; updated in place. */
  firstMoments: TensorList<T>;
  /** Moving average of the squared gradient, >= 0; updated in place. */
  secondMoments: TensorList<T>;
}

/** Options of {@link adamWInPlace}. */
export interface AdamWOptions {
  /** Number of this step, counted from 1. */
  step: number;
  /** Learning rate, >= 0. */
  learningRate: number;
  /** Decay of the first moment, in [0, 1). Default 0.9. */
  beta1?: number;
  /** Decay of the second moment, in [0, 1). Default 0.999. */
  beta2?: number;
  /** Added to the root of the corrected second moment; at least 2^-126. Default 1e-8. */
  epsilon?: number;
  /** Decoupled weight decay, >= 0. Default 0.01. */
  weightDecay?: number;
  /**
   * Multiplies every gradient before use, > 0; default 1. With the scale of {@link clipScale} the step clips without a
   * pass over the gradients of its own; on a GPU that scale stays there.
   */
  gradScale?: number | DeviceValue<number>;
  /**
   * `false` leaves out the check of the gradients, which reads them once more; for gradients that {@link gradNorm} or
   * {@link clipGradNormInPlace} has just accepted. A NaN is then only found after the step, in the parameters. Default
   * true.
   */
  checkGrads?: boolean;
}

// The smallest normal float32: anything smaller could be rounded to 0, and 0 / 0 arises where a gradient is always 0.
const SMALLEST_EPSILON = 2 ** -126;

/**
 * One step of Adam with decoupled weight decay, in place and in one pass. With g = gradScale * grad, t = step:
 *
 * - `m = beta1 m + (1 - beta1) g`, `v = beta2 v + (1 - beta2) g^2`
 * - `p = (1 - learningRate weightDecay) p - learningRate m' / (sqrt(v') + epsilon)`, with `m' = m / (1 - beta1^t)`,
 *   `v' = v / (1 - beta2^t)`
 *
 * the update of `torch.optim.AdamW` (without amsgrad).
 *
 * Numerics: the scalars of the step are computed in float64. float64 arrays are updated in float64, float32 arrays in
 * float32: where nothing underflows, a new moment differs from the exact one by at most 4 units of 2^-23 relative to
 * the larger of its two terms, and a new parameter by at most 1.5 such units relative to the larger of its old and new
 * value, plus 1e-6 of the step that the larger term alone would make. Same bits for
 * every number of threads and every instruction set.
 *
 * All gradients are checked before anything is written: after an error about a gradient, nothing has changed.
 * Parameters and moments are checked as they are updated; after an error about one of those (a NaN was already there,
 * or a second moment was negative) the step is complete for all other elements of that tensor and the tensors before.
 *
 * On a GPU the checks are made there too: a step whose gradients are refused changes nothing, and the error comes with the
 * next download.
 *
 * Source: Loshchilov & Hutter, arXiv 1711.05101, on Kingma & Ba, arXiv 1412.6980.
 *
 * @param state - parameters, gradients and moments
 * @param options - `step` and `learningRate` are required
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE` (also for shared memory), `ERR_SHAPE`;
 * {@link NumericError} `ERR_NOT_FINITE` for a gradient that is NaN or infinite, or whose square overflows the dtype
 */
export function adamWInPlace<T extends Values>(state: AdamWState<T>, options: AdamWOptions): void {
  const params = checkTensors(state.params, "params");
  const grads = checkTensors(state.grads, "grads", params);
  const firstMoments = checkTensors(state.firstMoments, "firstMoments", params);
  const secondMoments = checkTensors(state.secondMoments, "secondMoments", params);
  assertDisjoint([...params, ...grads, ...firstMoments, ...secondMoments]);
  const checked = checkOptions(options);
  const first = params[0]!.data;
  const scale = checkScale(options.gradScale, first);
  const guard = checked.checkGrads && first instanceof DeviceTensor ? first.stream.guard() : null;
  if (checked.checkGrads) for (const gradient of grads) assertUsable(gradient, scale, guard);
  for (let i = 0; i < params.length; i++) {
    const status = launch(
      "adamWInPlace",
      addon().optim.adamW,
      params[i]!.data,
      grads[i]!.data,
      firstMoments[i]!.data,
      secondMoments[i]!.data,
      checked.step,
      checked.learningRate,
      checked.beta1,
      checked.beta2,
      checked.epsilon,
      checked.weightDecay,
      ...scale,
      guard,
    );
    assertUpdated(status, [params[i]!, firstMoments[i]!, secondMoments[i]!]);
  }
}

/** A factor on the host, and one on the device: the second number of a tensor. */
type GradScale = [host: number, device: DeviceTensor<"float64"> | null];

function checkScale(gradScale: AdamWOptions["gradScale"] = 1, params: Values): GradScale {
  if (!(gradScale instanceof DeviceScale)) {
    assertNumber(gradScale, "gradScale", { low: 0, open: true });
    return [gradScale, null];
  }
  assertLive(gradScale.tensor, "gradScale");
  assertSamePlace(gradScale.tensor, "gradScale", params, "params");
  return [1, gradScale.tensor];
}

function checkOptions(options: AdamWOptions): Required<Omit<AdamWOptions, "gradScale">> {
  const {
    step,
    learningRate,
    beta1 = 0.9,
    beta2 = 0.999,
    epsilon = 1e-8,
    weightDecay = 0.01,
    checkGrads = true,
  } = options;
  if (!Number.isSafeInteger(step) || step < 1) {
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `step: expected an integer >= 1, got ${describe(step)}`);
  }
  assertNumber(learningRate, "learningRate", { low: 0 });
  assertDecay(beta1, "beta1");
  assertDecay(beta2, "beta2");
  assertNumber(epsilon, "epsilon", { low: SMALLEST_EPSILON });
  assertNumber(weightDecay, "weightDecay", { low: 0 });
  if (typeof checkGrads !== "boolean") {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `checkGrads: expected a boolean, got ${describe(checkGrads)}`,
    );
  }
  return { step, learningRate, beta1, beta2, epsilon, weightDecay, checkGrads };
}

function assertDecay(value: number, name: string): void {
  assertNumber(value, name, { low: 0, high: 1 });
  if (value === 1) {
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `${name}: expected a number in [0, 1), got 1`);
  }
}

function assertUsable(
  { name, data }: NamedTensor<Values>,
  scale: GradScale,
  guard: NativeArray | null,
): void {
  const status = launch("adamWInPlace", addon().optim.firstUnusable, data, ...scale, guard);
  whenKnown<Values>(status, { [name]: data }, (index, named) => {
    if (index < 0) return;
    const scaled = scale[0] === 1 ? "" : ` (times gradScale ${scale[0]})`;
    throw new NumericError(
      "ERR_NOT_FINITE",
      `${name}: expected a finite number with a finite square at index ${index}, got ${valueAt(named[name], index)}${scaled}; nothing was updated`,
    );
  });
}

function assertUpdated(status: Status, tensors: readonly NamedTensor<Values>[]): void {
  const suspects = Object.fromEntries(tensors.map(({ name, data }) => [name, data]));
  whenKnown<Values>(status, suspects, (index, named) => {
    if (index < 0) return;
    const held = tensors.map(({ name }) => `${name} ${valueAt(named[name], index)}`).join(", ");
    throw new NumericError(
      "ERR_NOT_FINITE",
      `${tensors[0]!.name}: a number that is not finite arises at index ${index} after the step (${held}): it stood in parameters, moments or unchecked gradients before, or learningRate is too large`,
    );
  });
}
