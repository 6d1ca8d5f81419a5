import { ArgumentError } from "../errors.ts";
import { runJob } from "../job.ts";
import { addon } from "../load.ts";
import {
  checkTensor,
  type NativeTensor,
  type ResultArray,
  type Tensor,
  TENSOR_TYPES,
  type TensorType,
} from "../tensor.ts";
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
import type { LinearArguments } from "./kernels.ts";
import type {
  LinearGradients,
  LinearHead,
  LinearLogProbsBackwardOptions,
  LogProbForward,
  LogProbOptions,
  LogProbs,
  LogProbUpstream,
} from "./types.ts";

interface CheckedHead<K extends TensorType> {
  hidden: NativeTensor<K>;
  weight: NativeTensor<K>;
  bias: NativeTensor<K> | undefined;
  native: LinearArguments;
}

function checkHead<K extends TensorType>(head: LinearHead<K>, targets: Int32Array): CheckedHead<K> {
  assertObject(head, "head");
  const hidden = checkTensor(head.hidden, "hidden", ["N", "H"]);
  const weight = checkTensor(head.weight, "weight", ["V", "H"]);
  const bias = head.bias === undefined ? undefined : checkTensor(head.bias, "bias", ["V"]);
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
  checkTargets(targets, hidden as NativeTensor, rows, vocabulary);
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

function assertCompatible(hidden: NativeTensor, other: NativeTensor, name: string): void {
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
export async function linearLogProbs<K extends TensorType>(
  head: LinearHead<K>,
  targets: Int32Array,
  options: LogProbOptions = {},
): Promise<LogProbs<K>> {
  const temperature = checkTemperature(options.temperature);
  const { hidden, native } = checkHead(head, targets);
  const { result, outputs } = allocateOutputs(hidden as NativeTensor, targets.length, options);
  const status = await runJob(options.signal, () =>
    addon().logprob.linearForward(...native, targets, temperature, ...outputs),
  );
  assertHidden(status, hidden as NativeTensor);
  return result as LogProbs<K>;
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
export async function linearLogProbsBackward<K extends TensorType>(
  head: LinearHead<K>,
  targets: Int32Array,
  forward: LogProbForward<K>,
  gradients: LogProbUpstream<K>,
  options: LinearLogProbsBackwardOptions<K> = {},
): Promise<LinearGradients<K>> {
  const temperature = checkTemperature(options.temperature);
  const { hidden, weight, bias, native } = checkHead(head, targets);
  const upstream = checkGradients(forward, gradients, hidden as NativeTensor, "hidden", targets.length);
  const { out = {} } = options;
  const output = (given: ResultArray<K> | undefined, name: string, length: number): ResultArray<K> => {
    if (given === undefined) return allocateResult(hidden as NativeTensor, [length]) as ResultArray<K>;
    checkResult(given, `out.${name}`, hidden as NativeTensor, "hidden", length);
    return given;
  };
  const gradHidden = output(out.gradHidden, "gradHidden", hidden.data.length);
  const gradWeight = output(out.gradWeight, "gradWeight", weight.data.length);
  const gradBias = bias === undefined ? null : output(out.gradBias, "gradBias", bias.data.length);
  const status = await runJob(options.signal, () =>
    addon().logprob.linearBackward(
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
  };
}

function asTensor<K extends TensorType>(
  data: ResultArray<K>,
  dims: readonly number[],
): Tensor<K extends "float64" ? "float64" : "float32"> {
  const type = data instanceof Float64Array ? "float64" : "float32";
  return { type, data, dims: [...dims] } as unknown as Tensor<K extends "float64" ? "float64" : "float32">;
}
