import { launch } from "../cuda/launch.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import { ArgumentError } from "../errors.ts";
import { runJob } from "../job.ts";
import { addon } from "../load.ts";
import { allocateResult, checkSwitch } from "../logprob/check.ts";
import { assertLogits } from "../logprob/failure.ts";
import {
  checkPlaced,
  type PlacedTensor,
  type ResultArray,
  type ResultType,
  type Tensor,
  type TensorType,
} from "../tensor.ts";
import { type DrawCounters, packCounters } from "./counters.ts";
import { checkRule, MAX_VOCABULARY, type SamplingRule } from "./rule.ts";

/** Options of {@link sampleTokens}. */
export interface SampleTokensOptions extends SamplingRule {
  /** Whether to return the log-probs under the whole distribution. Default true. */
  readonly logProbs?: boolean;
  /** Whether to return the log-probs under what the rule leaves of it. Default false. */
  readonly truncatedLogProbs?: boolean;
  /** Stops the work: the promise then rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
}

/** One token per row of logits. */
export interface SampledTokens<K extends TensorType = TensorType> {
  /** Ids in [0, V). */
  readonly tokens: Int32Array<ArrayBuffer>;
  /** Log-probs at the temperature, before truncation (at temperature 1 where it is 0); left out with `logProbs: false`. */
  readonly logProbs?: ResultArray<K>;
  /** Log-probs among the tokens that could be drawn, 0 for temperature 0; only with `truncatedLogProbs: true`. */
  readonly truncatedLogProbs?: ResultArray<K>;
}

/** {@link SampledTokens} on the device. */
export interface DeviceSampledTokens<K extends TensorType = TensorType> {
  /** Ids in [0, V). */
  readonly tokens: DeviceTensor<"int32">;
  /** As in {@link SampledTokens}. */
  readonly logProbs?: DeviceTensor<ResultType<K>>;
  /** As in {@link SampledTokens}. */
  readonly truncatedLogProbs?: DeviceTensor<ResultType<K>>;
}

/**
 * Draws a token from each row of logits: from `softmax(logits / temperature)`, of which the rule leaves, in this order,
 * the tokens of at least `minP` times the highest probability, the `topK` most likely of those, and the fewest most
 * likely of those whose probabilities reach `topP` of what is left then (at least one). Equally likely tokens rank by
 * id. Logits of -Infinity are never drawn.
 *
 * Nothing is sorted and nothing is random but the uniform number of each row, which is Philox4x32-10 of its counters under
 * the seed. A draw depends on the row, the rule, the seed and the row's counters alone: batching, number of threads and
 * order of the rows change nothing. Probabilities are integers in units of 2^-44 of the highest: their sums, and so the
 * draws, are exact. Each is within 4e-7 of the highest (float64 logits: 1e-13) of the exact one: instruction sets and
 * GPUs draw the same token except where the uniform number falls that close to the border of two. Log-probs are within
 * 1e-6 max(1, |value|) of the exact ones (float64: V 2^-44).
 *
 * Runs off the JavaScript thread; the logits must not be changed, transferred or resized before the promise settles.
 *
 * Source of the random numbers: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 *
 * @param logits - `[N, V]`, never changed; V at most 2^18
 * @param counters - what tells the draws apart, one of each per row
 * @param options - the rule and its seed; what to return
 * @returns N values each
 * @throws {@link ArgumentError} `ERR_ARGUMENT_TYPE`, `ERR_ARGUMENT_VALUE`, `ERR_SHAPE`; {@link NumericError}
 * `ERR_NOT_FINITE` for a row with NaN or +Infinity, or with nothing but -Infinity; `signal.reason` when aborted (all as
 * rejections)
 */
export function sampleTokens<K extends TensorType>(
  logits: DeviceTensor<K>,
  counters: DrawCounters,
  options?: SampleTokensOptions,
): Promise<DeviceSampledTokens<K>>;
export function sampleTokens<K extends TensorType>(
  logits: Tensor<K>,
  counters: DrawCounters,
  options?: SampleTokensOptions,
): Promise<SampledTokens<K>>;
export async function sampleTokens<K extends TensorType>(
  logits: Tensor<K> | DeviceTensor<K>,
  counters: DrawCounters,
  options: SampleTokensOptions = {},
): Promise<SampledTokens<K> | DeviceSampledTokens<K>> {
  const { rule, seed } = checkRule(options);
  const tensor = checkPlaced(logits, "logits", ["N", "V"]) as PlacedTensor;
  const [rows, vocabulary] = tensor.dims as [number, number];
  if (vocabulary > MAX_VOCABULARY) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `logits.dims[1]: expected a vocabulary of at most ${MAX_VOCABULARY} tokens, got ${vocabulary}`,
    );
  }
  const words = packCounters(counters, rows);
  const tokens = allocateTokens(tensor, rows);
  const wanted = (name: "logProbs" | "truncatedLogProbs", byDefault: boolean) =>
    checkSwitch(options[name], name, byDefault) ? allocateResult(tensor, [rows]) : null;
  const logProbs = wanted("logProbs", true);
  const truncatedLogProbs = wanted("truncatedLogProbs", false);
  const { sample } = addon().sampling;
  const status = await runJob(options.signal, () =>
    launch(
      "sampleTokens",
      sample,
      tensor.data,
      tensor.element,
      rows,
      vocabulary,
      ...rule,
      ...seed,
      words,
      tokens,
      logProbs,
      truncatedLogProbs,
    ),
  );
  assertLogits(status, tensor);
  return {
    tokens,
    ...(logProbs === null ? {} : { logProbs }),
    ...(truncatedLogProbs === null ? {} : { truncatedLogProbs }),
  } as SampledTokens<K> | DeviceSampledTokens<K>;
}

function allocateTokens({ data }: PlacedTensor, rows: number): Int32Array | DeviceTensor<"int32"> {
  return data instanceof DeviceTensor ? data.stream.allocate("int32", [rows]) : new Int32Array(rows);
}
