import type { DeviceTensor } from "../cuda/tensor.ts";
import type { ResultArray, ResultType, Tensor, TensorArrays, TensorType } from "../tensor.ts";

/** What logits are divided by, and how to stop. */
export interface LogProbBackwardOptions {
  /** Temperature T in [1e-6, 1e6]: probabilities are softmax(logits / T). Default 1. The same in both passes. */
  temperature?: number;
  /**
   * Stops the work: the promise then rejects with `signal.reason`, once native code has let go of the arrays. A signal
   * that has fired already keeps it from starting.
   */
  signal?: AbortSignal;
}

/** Options of {@link tokenLogProbs} and {@link linearLogProbs}. */
export interface LogProbOptions extends LogProbBackwardOptions {
  /** Whether to return the entropy. Default true. */
  entropy?: boolean;
  /** Whether to return the sum of the squared probabilities. Default false. */
  sumSquaredProbs?: boolean;
}

/** One value per token position. */
export interface LogProbs<K extends TensorType = TensorType> {
  /** `log p_y = z_y - logSumExp` of the target token; -Infinity when its logit is. */
  readonly logProbs: ResultArray<K>;
  /** `H = -sum_j p_j log p_j` in nats, in [0, ln V]; left out with `entropy: false`. */
  readonly entropy?: ResultArray<K>;
  /** `log sum_j exp(z_j)`; float64 for every input type, because it carries the offset of the logits. */
  readonly logSumExp: Float64Array<ArrayBuffer>;
  /** `sum_j p_j^2`; only with `sumSquaredProbs: true`. */
  readonly sumSquaredProbs?: ResultArray<K>;
}

/** {@link LogProbs} on the device. */
export interface DeviceLogProbs<K extends TensorType = TensorType> {
  /** `log p_y = z_y - logSumExp`. */
  readonly logProbs: DeviceTensor<ResultType<K>>;
  /** `H = -sum_j p_j log p_j`; left out with `entropy: false`. */
  readonly entropy?: DeviceTensor<ResultType<K>>;
  /** `log sum_j exp(z_j)`. */
  readonly logSumExp: DeviceTensor<"float64">;
  /** `sum_j p_j^2`; only with `sumSquaredProbs: true`. */
  readonly sumSquaredProbs?: DeviceTensor<ResultType<K>>;
}

/** {@link LogProbForward} on the device. */
export interface DeviceLogProbForward<K extends TensorType = TensorType> {
  /** As returned by the forward pass. */
  readonly logSumExp: DeviceTensor<"float64">;
  /** As returned by the forward pass; needed for `gradEntropy`. */
  readonly entropy?: DeviceTensor<ResultType<K>> | undefined;
}

/** {@link LogProbUpstream} on the device. */
export interface DeviceLogProbUpstream<K extends TensorType = TensorType> {
  /** d loss / d `logProbs`. */
  readonly gradLogProbs: DeviceTensor<ResultType<K>>;
  /** d loss / d `entropy`. */
  readonly gradEntropy?: DeviceTensor<ResultType<K>>;
}

/** {@link TokenLogProbsBackwardOptions} on the device. */
export interface DeviceLogProbsBackwardOptions<K extends TensorType> extends LogProbBackwardOptions {
  /** Reused for the result; the logits themselves are allowed, and then overwritten by the gradient. */
  out?: DeviceTensor<K>;
}

/** What a backward pass needs of the forward pass: its result will do. */
export interface LogProbForward<K extends TensorType = TensorType> {
  /** As returned by the forward pass. */
  readonly logSumExp: Float64Array;
  /** As returned by the forward pass; needed for `gradEntropy`. */
  readonly entropy?: ResultArray<K> | undefined;
}

/** Upstream gradients, one finite value per token position. */
export interface LogProbUpstream<K extends TensorType = TensorType> {
  /** d loss / d `logProbs`. */
  readonly gradLogProbs: K extends "float64" ? Float64Array : Float32Array;
  /** d loss / d `entropy`. */
  readonly gradEntropy?: K extends "float64" ? Float64Array : Float32Array;
}

/** Options of {@link tokenLogProbsBackward}. */
export interface TokenLogProbsBackwardOptions<K extends TensorType> extends LogProbBackwardOptions {
  /**
   * Reused for the result. `logits.data` itself is allowed, and then overwritten by the gradient; any other overlap is
   * not.
   */
  out?: TensorArrays[K];
}

/** Hidden states and the head that turns them into logits: `logits = hidden weight^T + bias`. */
export interface LinearHead<K extends TensorType = TensorType> {
  /** `[N, H]`, one row per token position. */
  readonly hidden: Tensor<K>;
  /** `[V, H]`, as an LM head or a tied embedding is stored. */
  readonly weight: Tensor<K>;
  /** `[V]`. */
  readonly bias?: Tensor<K>;
}

/** {@link LinearHead} on the device. */
export interface DeviceLinearHead<K extends TensorType = TensorType> {
  /** `[N, H]`, one row per token position. */
  readonly hidden: DeviceTensor<K>;
  /** `[V, H]`. */
  readonly weight: DeviceTensor<K>;
  /** `[V]`. */
  readonly bias?: DeviceTensor<K>;
}

/** Memory that {@link linearLogProbsBackward} reuses, each in the type of the result. */
export interface LinearGradientsOut<K extends TensorType> {
  /** `N * H` values. */
  gradHidden?: ResultArray<K>;
  /** `V * H` values. */
  gradWeight?: ResultArray<K>;
  /** `V` values. */
  gradBias?: ResultArray<K>;
}

/** Options of {@link linearLogProbsBackward}. */
export interface LinearLogProbsBackwardOptions<K extends TensorType> extends LogProbBackwardOptions {
  /** Reused for the results. */
  out?: LinearGradientsOut<K>;
}

/** {@link LinearLogProbsBackwardOptions} on the device. */
export interface DeviceLinearBackwardOptions<K extends TensorType> extends LogProbBackwardOptions {
  /** Reused for the results. */
  out?: Partial<DeviceLinearGradients<K>>;
}

/** {@link LinearGradients} on the device. */
export interface DeviceLinearGradients<K extends TensorType = TensorType> {
  /** `[N, H]`. */
  readonly gradHidden: DeviceTensor<ResultType<K>>;
  /** `[V, H]`. */
  readonly gradWeight: DeviceTensor<ResultType<K>>;
  /** `[V]`; only when the head has a bias. */
  readonly gradBias?: DeviceTensor<ResultType<K>>;
}

/** Gradients of a linear head: float64 for float64 inputs, float32 for everything narrower. */
export interface LinearGradients<K extends TensorType = TensorType> {
  /** `[N, H]`. */
  readonly gradHidden: Tensor<K extends "float64" ? "float64" : "float32">;
  /** `[V, H]`. */
  readonly gradWeight: Tensor<K extends "float64" ? "float64" : "float32">;
  /** `[V]`; only when the head has a bias. */
  readonly gradBias?: Tensor<K extends "float64" ? "float64" : "float32">;
}
