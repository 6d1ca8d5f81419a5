import { assertSamePlace } from "../cuda/place.ts";
import { launch } from "../cuda/launch.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import { ArgumentError } from "../errors.ts";
import { runJob } from "../job.ts";
import { addon } from "../load.ts";
import {
  assertLasting,
  checkPlaced,
  type PlacedTensor,
  type Tensor,
  type TensorArrays,
  type TensorType,
} from "../tensor.ts";
import { assertTensor } from "../placed-values.ts";
import { type ArrayName, assertVector, typeName } from "../validate.ts";
import { allocateOutputs, checkGradients, checkTargets, checkTemperature } from "./check.ts";
import { assertBackward, assertLogits } from "./failure.ts";
import type { MatrixArguments, Targets } from "./kernels.ts";
import type {
  DeviceLogProbForward,
  DeviceLogProbs,
  DeviceLogProbsBackwardOptions,
  DeviceLogProbUpstream,
  LogProbForward,
  LogProbOptions,
  LogProbs,
  LogProbUpstream,
  TokenLogProbsBackwardOptions,
} from "./types.ts";

function checkLogits<K extends TensorType>(
  logits: Tensor<K> | DeviceTensor<K>,
  targets: Targets,
): PlacedTensor {
  const tensor = checkPlaced(logits, "logits", ["N", "V"]) as PlacedTensor;
  checkTargets(targets, tensor, tensor.dims[0]!, tensor.dims[1]!);
  return tensor;
}

function asArguments({ data, element, dims }: PlacedTensor): MatrixArguments {
  return [data, element, dims[0]!, dims[1]!];
}

/**
 * Log-probability of one target token per row, with the entropy of the row, in one pass over the logits:
 * `z = logits / T`, `logProbs = z_y - logSumExp`, `H = logSumExp - sum_j p_j z_j`, everything relative to the row's
 * maximum. Logits of -Infinity have probability 0 and contribute nothing.
 *
 * The result of a row depends on that row alone: batching, number of threads and instruction set change no bit of it.
 * float32, bfloat16 and float16 logits: `exp` in float32, sums in float64, results within 1e-6 max(1, |value|) of the
 * exact ones on the logits as stored. float64: float64 throughout.
 *
 * Runs off the JavaScript thread; the arrays must not be changed, transferred or resized before the promise settles.
 *
 * @param logits - `[N, V]`, never changed
 * @param targets - N token ids in [0, V)
 * @returns N values each
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE` for a target or temperature out of range,
 * `ERR_SHAPE`; {@link NumericError} `ERR_NOT_FINITE` for a row with NaN or +Infinity, or with nothing but -Infinity;
 * `signal.reason` when aborted (all as rejections)
 */
export function tokenLogProbs<K extends TensorType>(
  logits: DeviceTensor<K>,
  targets: Int32Array | DeviceTensor<"int32">,
  options?: LogProbOptions,
): Promise<DeviceLogProbs<K>>;
export function tokenLogProbs<K extends TensorType>(
  logits: Tensor<K>,
  targets: Int32Array,
  options?: LogProbOptions,
): Promise<LogProbs<K>>;
export async function tokenLogProbs<K extends TensorType>(
  logits: Tensor<K> | DeviceTensor<K>,
  targets: Targets,
  options: LogProbOptions = {},
): Promise<LogProbs<K> | DeviceLogProbs<K>> {
  const temperature = checkTemperature(options.temperature);
  const tensor = checkLogits(logits, targets);
  const { result, outputs } = allocateOutputs(tensor, targets.length, options);
  const { forward } = addon().logprob;
  const status = await runJob(options.signal, () =>
    launch("tokenLogProbs", forward, ...asArguments(tensor), targets, temperature, ...outputs),
  );
  assertLogits(status, tensor, targets);
  return result as LogProbs<K> | DeviceLogProbs<K>;
}

/**
 * Gradient with respect to the logits, in one pass over them:
 * `(1 / T) (g_logProb (e_y - p) - g_entropy p (log p + H))`. Exactly +0 where a logit is -Infinity, the target's included.
 *
 * float32, bfloat16 and float16 logits: within 2e-6 (|g_logProb| + |g_entropy|) max p (|log p| + H + 1) / T, plus the
 * rounding to the element type of the logits. float64: float64 throughout.
 *
 * @param logits - `[N, V]`, as in the forward pass
 * @param targets - as in the forward pass
 * @param forward - the result of {@link tokenLogProbs}
 * @param gradients - upstream gradients; `gradEntropy` needs `forward.entropy`
 * @param options - the temperature of the forward pass; `out`
 * @returns `[N, V]` in the element type of the logits
 * @throws as {@link tokenLogProbs}; `ERR_NOT_FINITE` also for a gradient that is not finite and for a `logSumExp` that
 * is not that of these logits at this temperature. `out` then holds nothing of use.
 */
export function tokenLogProbsBackward<K extends TensorType>(
  logits: DeviceTensor<K>,
  targets: Int32Array | DeviceTensor<"int32">,
  forward: DeviceLogProbForward<K>,
  gradients: DeviceLogProbUpstream<K>,
  options?: DeviceLogProbsBackwardOptions<K>,
): Promise<DeviceTensor<K>>;
export function tokenLogProbsBackward<K extends TensorType>(
  logits: Tensor<K>,
  targets: Int32Array,
  forward: LogProbForward<K>,
  gradients: LogProbUpstream<K>,
  options?: TokenLogProbsBackwardOptions<K>,
): Promise<Tensor<K>>;
export async function tokenLogProbsBackward<K extends TensorType>(
  logits: Tensor<K> | DeviceTensor<K>,
  targets: Targets,
  forward: LogProbForward<K> | DeviceLogProbForward<K>,
  gradients: LogProbUpstream<K> | DeviceLogProbUpstream<K>,
  options: TokenLogProbsBackwardOptions<K> | DeviceLogProbsBackwardOptions<K> = {},
): Promise<Tensor<K> | DeviceTensor<K>> {
  const temperature = checkTemperature(options.temperature);
  const tensor = checkLogits(logits, targets);
  const upstream = checkGradients(forward, gradients, tensor, "logits", targets.length);
  const data = checkOut(options.out, tensor);
  const { backward } = addon().logprob;
  const status = await runJob(options.signal, () =>
    launch(
      "tokenLogProbsBackward",
      backward,
      ...asArguments(tensor),
      targets,
      temperature,
      ...upstream,
      data,
    ),
  );
  assertBackward(status, upstream, tensor);
  return data instanceof DeviceTensor
    ? (data as DeviceTensor<K>)
    : { type: logits.type, data: data as TensorArrays[K], dims: [...tensor.dims] };
}

function checkOut(out: PlacedTensor["data"] | undefined, { data, dims }: PlacedTensor): PlacedTensor["data"] {
  if (data instanceof DeviceTensor) {
    if (out === undefined) return data.stream.allocate(data.type, dims);
    assertSamePlace(out, "out", data, "logits");
    assertTensor(out, "out", [data.type], data.length);
    return out;
  }
  if (out === undefined) {
    return new (data.constructor as new (length: number) => typeof data)(data.length);
  }
  assertSamePlace(out, "out", data, "logits");
  assertVector(out, "out", data.length, [typeName(data) as ArrayName]);
  const given = out as typeof data;
  assertLasting(given, "out");
  const apart =
    given.buffer !== data.buffer ||
    given.byteOffset === data.byteOffset ||
    Math.abs(given.byteOffset - data.byteOffset) >= data.byteLength;
  if (!apart) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      "out: expected memory apart from the logits, or exactly theirs, got an overlap",
    );
  }
  return given;
}
