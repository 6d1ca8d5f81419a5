import { ArgumentError } from "../errors.ts";
import type { FloatArray } from "../ragged.ts";
import {
  assertLasting,
  type NativeTensor,
  type ResultArray,
  TENSOR_TYPES,
  type TensorType,
} from "../tensor.ts";
import { type ArrayName, assertNumber, assertVector, describe } from "../validate.ts";
import type { GradientArguments, OutputArguments } from "./kernels.ts";
import type { LogProbForward, LogProbOptions, LogProbs, LogProbUpstream } from "./types.ts";

/** @internal The temperature, checked. */
export function checkTemperature(temperature: number | undefined): number {
  if (temperature === undefined) return 1;
  assertNumber(temperature, "temperature", { low: 1e-6, high: 1e6 });
  return temperature;
}

/** @internal Asserts one token id of the vocabulary per row. */
export function checkTargets(targets: Int32Array, rows: number, vocabulary: number): void {
  assertVector(targets, "targets", rows, ["Int32Array"]);
  assertLasting(targets, "targets");
  const bad = targets.findIndex((id) => id < 0 || id >= vocabulary);
  if (bad >= 0) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `targets[${bad}]: expected a token id in [0, ${vocabulary}), got ${targets[bad]}`,
    );
  }
}

function resultName(tensor: NativeTensor): ArrayName {
  return TENSOR_TYPES[tensor.element] === "float64" ? "Float64Array" : "Float32Array";
}

/** @internal A fresh result array for tensors of this type. */
export function allocateResult<K extends TensorType>(like: NativeTensor<K>, length: number): ResultArray<K> {
  const made =
    resultName(like as NativeTensor) === "Float64Array" ? new Float64Array(length) : new Float32Array(length);
  return made as ResultArray<K>;
}

/** @internal Asserts a one-per-row array of the result type. */
export function checkResult(value: FloatArray, name: string, like: NativeTensor, length: number): void {
  assertVector(value, name, length, [resultName(like)]);
  assertLasting(value, name);
}

function checkSwitch(value: boolean | undefined, name: string, byDefault: boolean): boolean {
  if (value === undefined) return byDefault;
  if (typeof value !== "boolean") {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `${name}: expected a boolean, got ${describe(value)}`);
  }
  return value;
}

/** @internal The arrays of a forward pass, and how they are handed to the kernel. */
export function allocateOutputs<K extends TensorType>(
  like: NativeTensor<K>,
  rows: number,
  options: LogProbOptions,
): { result: LogProbs<K>; outputs: OutputArguments } {
  const wantsEntropy = checkSwitch(options.entropy, "entropy", true);
  const wantsSquares = checkSwitch(options.sumSquaredProbs, "sumSquaredProbs", false);
  const logProbs = allocateResult(like, rows);
  const logSumExp = new Float64Array(rows);
  const entropy = wantsEntropy ? allocateResult(like, rows) : null;
  const sumSquaredProbs = wantsSquares ? allocateResult(like, rows) : null;
  return {
    result: {
      logProbs,
      logSumExp,
      ...(entropy === null ? {} : { entropy }),
      ...(sumSquaredProbs === null ? {} : { sumSquaredProbs }),
    },
    outputs: [logProbs, entropy, sumSquaredProbs, logSumExp],
  };
}

/** @internal The forward results and upstream gradients of a backward pass, as handed to the kernel. */
export function checkGradients<K extends TensorType>(
  forward: LogProbForward<K>,
  upstream: LogProbUpstream<K>,
  like: NativeTensor<K>,
  rows: number,
): GradientArguments {
  assertObject(forward, "forward");
  assertObject(upstream, "gradients");
  const { logSumExp, entropy } = forward;
  const { gradLogProbs, gradEntropy } = upstream;
  assertVector(logSumExp, "forward.logSumExp", rows, ["Float64Array"]);
  assertLasting(logSumExp, "forward.logSumExp");
  checkResult(gradLogProbs, "gradients.gradLogProbs", like as NativeTensor, rows);
  if (gradEntropy === undefined) return [logSumExp, null, gradLogProbs, null];
  checkResult(gradEntropy, "gradients.gradEntropy", like as NativeTensor, rows);
  if (entropy === undefined) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      "forward.entropy: expected the entropy of the forward pass beside gradEntropy, got none",
    );
  }
  checkResult(entropy, "forward.entropy", like as NativeTensor, rows);
  return [logSumExp, entropy, gradLogProbs, gradEntropy];
}

/** @internal Asserts that a value is an object whose members can be read. */
export function assertObject(value: unknown, name: string): void {
  if (value === null || typeof value !== "object") {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `${name}: expected an object, got ${describe(value)}`);
  }
}
