import { launch } from "../cuda/launch.ts";
import { assertSamePlace } from "../cuda/place.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import { ArgumentError } from "../errors.ts";
import { runJob } from "../job.ts";
import { addon } from "../load.ts";
import type { Values } from "../ragged.ts";
import { checkPlaced, type PlacedTensor, TENSOR_TYPES, type TensorType } from "../tensor.ts";
import {
  allocateOutputs,
  allocateResult,
  assertObject,
  checkGradients,
  checkResult,
  checkTargets,
  checkTemperature,
} from "./check.ts";
import { assertBackward, assertHidden } from "./failure.ts";
import type { LinearArguments, Targets } from "./kernels.ts";
import type {
  DeviceLinearBackwardOptions,
  DeviceLinearGradients,
  DeviceLinearHead,
  DeviceLogProbForward,
  DeviceLogProbs,
  DeviceLogProbUpstream,
  LinearGradients,
  LinearHead,
  LinearLogProbsBackwardOptions,
  LogProbForward,
  LogProbOptions,
  LogProbs,
  LogProbUpstream,
} from "./types.ts";

interface CheckedHead {
  hidden: PlacedTensor;
  weight: PlacedTensor;
  bias: PlacedTensor | undefined;
  native: LinearArguments;
}

function checkHead<K extends TensorType>(
  head: LinearHead<K> | DeviceLinearHead<K>,
  targets: Targets,
): CheckedHead {
  assertObject(head, "head");
  const check = (value: LinearHead["hidden"] | DeviceTensor, name: string, axes: string[]) =>
    checkPlaced(value as LinearHead["hidden"], name, axes) as PlacedTensor;
  const hidden = check(head.hidden, "hidden", ["N", "H"]);
  const weight = check(head.weight, "weight", ["V", "H"]);
  const bias = head.bias === undefined ? undefined : check(head.bias, "bias", ["V"]);
  const [rows, width] = hidden.dims as [number, number];
  const [vocabulary, weightWidth] = weight.dims as [number, number];
  if (weightWidth !== width) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `weight.dims[1]: expected the ${width} columns of hidden, got ${weightWidth}`,
    );
  }
  if (bias !== undefined && bias.dims[0] !== vocabulary) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `bias.dims[0]: expected the ${vocabulary} rows of weight, got ${bias.dims[0]}`,
    );
  }
  assertCompatible(hidden, weight, "weight");
  if (bias !== undefined) assertCompatible(hidden, bias, "bias");
  checkTargets(targets, hidden, rows, vocabulary);
  return {
    hidden,
    weight,
    bias,
    native: [
      hidden.data,
      hidden.element,
      rows,
      width,
      weight.data,
      weight.element,
      vocabulary,
      width,
      bias?.data ?? null,
      bias?.element ?? hidden.element,
    ],
  };
}

function assertCompatible(hidden: PlacedTensor, other: PlacedTensor, name: string): void {
  assertSamePlace(other.data, name, hidden.data, "hidden");
  const reference = TENSOR_TYPES.indexOf("float64");
  if ((hidden.element === reference) !== (other.element === reference)) {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `${name}.type: expected float64 exactly when hidden is, got ${TENSOR_TYPES[other.element]} beside ${TENSOR_TYPES[hidden.element]}`,
    );
  }
}

/**
 * {@link tokenLogProbs} of `hidden weight^T + bias` without ever holding those logits: the vocabulary is walked in tiles
 * that update a running maximum and running sums. The extra memory does not grow with the vocabulary and stays under
 * 64 MB.
 *
 * Products of float32, bfloat16 and float16 inputs (which may be mixed) accumulate in float32 over blocks of 256 columns
 * and then over the blocks: a logit is within `(256 + H / 256) 2^-24 sum_k |h_k w_k|` of the exact one, usually a tenth
 * of that. The rest is as in {@link tokenLogProbs}. The same bits for every batching and number of threads; instruction
 * sets may differ within the bound. float64: float64 throughout.
 *
 * @param head - `hidden` `[N, H]`, `weight` `[V, H]`, `bias` `[V]`; float64 only together
 * @param targets - N token ids in [0, V)
 * @returns N values each
 * @throws as {@link tokenLogProbs}
 */
export function linearLogProbs<K extends TensorType>(
  head: DeviceLinearHead<K>,
  targets: Int32Array | DeviceTensor<"int32">,
  options?: LogProbOptions,
): Promise<DeviceLogProbs<K>>;
export function linearLogProbs<K extends TensorType>(
  head: LinearHead<K>,
  targets: Int32Array,
  options?: LogProbOptions,
): Promise<LogProbs<K>>;
export async function linearLogProbs<K extends TensorType>(
  head: LinearHead<K> | DeviceLinearHead<K>,
  targets: Targets,
  options: LogProbOptions = {},
): Promise<LogProbs<K> | DeviceLogProbs<K>> {
  const temperature = checkTemperature(options.temperature);
  const { hidden, native } = checkHead(head, targets);
  const { result, outputs } = allocateOutputs(hidden, targets.length, options);
  const { linearForward } = addon().logprob;
  const status = await runJob(options.signal, () =>
    launch("linearLogProbs", linearForward, ...native, targets, temperature, ...outputs),
  );
  assertHidden(status, hidden, targets, native[6]);
  return result as LogProbs<K> | DeviceLogProbs<K>;
}

/**
 * Gradients of {@link linearLogProbs}. With D the gradient of the logits ({@link tokenLogProbsBackward}, recomputed tile
 * by tile): `gradHidden = D weight`, `gradWeight = D^T hidden`, `gradBias = D^T 1`. The extra memory does not grow with
 * the vocabulary and stays under 64 MB.
 *
 * @param head - as in the forward pass
 * @param targets - as in the forward pass
 * @param forward - the result of {@link linearLogProbs}
 * @param gradients - upstream gradients; `gradEntropy` needs `forward.entropy`
 * @param options - the temperature of the forward pass; `out`
 * @returns gradients in float32 (float64 for float64 inputs), of the shapes of the inputs
 * @throws as {@link tokenLogProbsBackward}
 */
export function linearLogProbsBackward<K extends TensorType>(
  head: DeviceLinearHead<K>,
  targets: Int32Array | DeviceTensor<"int32">,
  forward: DeviceLogProbForward<K>,
  gradients: DeviceLogProbUpstream<K>,
  options?: DeviceLinearBackwardOptions<K>,
): Promise<DeviceLinearGradients<K>>;
export function linearLogProbsBackward<K extends TensorType>(
  head: LinearHead<K>,
  targets: Int32Array,
  forward: LogProbForward<K>,
  gradients: LogProbUpstream<K>,
  options?: LinearLogProbsBackwardOptions<K>,
): Promise<LinearGradients<K>>;
export async function linearLogProbsBackward<K extends TensorType>(
  head: LinearHead<K> | DeviceLinearHead<K>,
  targets: Targets,
  forward: LogProbForward<K> | DeviceLogProbForward<K>,
  gradients: LogProbUpstream<K> | DeviceLogProbUpstream<K>,
  options: LinearLogProbsBackwardOptions<K> | DeviceLinearBackwardOptions<K> = {},
): Promise<LinearGradients<K> | DeviceLinearGradients<K>> {
  const temperature = checkTemperature(options.temperature);
  const { hidden, weight, bias, native } = checkHead(head, targets);
  const upstream = checkGradients(forward, gradients, hidden, "hidden", targets.length);
  const out: { gradHidden?: unknown; gradWeight?: unknown; gradBias?: unknown } = options.out ?? {};
  const output = (given: unknown, name: string, like: PlacedTensor): Values => {
    if (given === undefined) return allocateResult(hidden, like.dims);
    checkResult(given, `out.${name}`, hidden, "hidden", like.data.length);
    return given as Values;
  };
  const gradHidden = output(out.gradHidden, "gradHidden", hidden);
  const gradWeight = output(out.gradWeight, "gradWeight", weight);
  const gradBias = bias === undefined ? null : output(out.gradBias, "gradBias", bias);
  const { linearBackward } = addon().logprob;
  const status = await runJob(options.signal, () =>
    launch(
      "linearLogProbsBackward",
      linearBackward,
      ...native,
      targets,
      temperature,
      ...upstream,
      gradHidden,
      gradWeight,
      gradBias,
    ),
  );
  assertBackward(status, upstream);
  return {
    gradHidden: asTensor(gradHidden, hidden.dims),
    gradWeight: asTensor(gradWeight, weight.dims),
    ...(gradBias === null ? {} : { gradBias: asTensor(gradBias, bias!.dims) }),
  } as LinearGradients<K> | DeviceLinearGradients<K>;
}

function asTensor(data: Values, dims: readonly number[]): unknown {
  if (data instanceof DeviceTensor) return data;
  return { type: data instanceof Float64Array ? "float64" : "float32", data, dims: [...dims] };
}
