import { assertSamePlace } from "../cuda/place.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import { ArgumentError } from "../errors.ts";
import type { Values } from "../ragged.ts";
import { assertLasting, type PlacedTensor, TENSOR_TYPES } from "../tensor.ts";
import { assertTensor } from "../placed-values.ts";
import { type ArrayName, assertNumber, assertVector, describe } from "../validate.ts";
import type { GradientArguments, OutputArguments, Targets } from "./kernels.ts";
import type { LogProbOptions } from "./types.ts";

/** @internal The temperature, checked. */
export function checkTemperature(temperature: number | undefined): number {
  if (temperature === undefined) return 1;
  assertNumber(temperature, "temperature", { low: 1e-6, high: 1e6 });
  return temperature;
}

/**
 * @internal Asserts one token id of the vocabulary per row. Beside logits on the device ids may be there too; the kernel
 * then looks at them.
 */
export function checkTargets(targets: Targets, like: PlacedTensor, rows: number, vocabulary: number): void {
  if (like.data instanceof DeviceTensor && targets instanceof DeviceTensor) {
    assertTensor(targets, "targets", ["int32"], rows);
    return;
  }
  assertVector(targets, "targets", rows, ["Int32Array"]);
  const ids = targets as Int32Array;
  assertLasting(ids, "targets");
  const bad = ids.findIndex((id) => id < 0 || id >= vocabulary);
  if (bad >= 0) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `targets[${bad}]: expected a token id in [0, ${vocabulary}), got ${ids[bad]}`,
    );
  }
}

type ResultName = "float32" | "float64";

function resultName(tensor: PlacedTensor): ResultName {
  return TENSOR_TYPES[tensor.element] === "float64" ? "float64" : "float32";
}

/** @internal A fresh array of results, where the tensor is. */
export function allocateResult(
  like: PlacedTensor,
  dims: readonly number[],
  type: ResultName = resultName(like),
): Values {
  if (like.data instanceof DeviceTensor) return like.data.stream.allocate(type, dims) as Values;
  const length = dims.reduce((product, extent) => product * extent, 1);
  return type === "float64" ? new Float64Array(length) : new Float32Array(length);
}

/** @internal Asserts an array of results where the tensor `like`, called `likeName`, is. */
export function checkResult(
  value: unknown,
  name: string,
  like: PlacedTensor,
  likeName: string,
  length: number,
  type: ResultName = resultName(like),
): void {
  assertSamePlace(value, name, like.data, likeName);
  if (like.data instanceof DeviceTensor) {
    assertTensor(value, name, [type], length);
    return;
  }
  const wanted: ArrayName = type === "float64" ? "Float64Array" : "Float32Array";
  assertVector(value, name, length, [wanted]);
  assertLasting(value as ArrayBufferView, name);
}

/** @internal A boolean option, checked. */
export function checkSwitch(value: boolean | undefined, name: string, byDefault: boolean): boolean {
  if (value === undefined) return byDefault;
  if (typeof value !== "boolean") {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `${name}: expected a boolean, got ${describe(value)}`);
  }
  return value;
}

/** Results of a forward pass as they are allocated; see LogProbs and DeviceLogProbs. */
interface Results {
  logProbs: Values;
  entropy?: Values;
  logSumExp: Values;
  sumSquaredProbs?: Values;
}

/** @internal The arrays of a forward pass, and how they are handed to the kernel. */
export function allocateOutputs(
  like: PlacedTensor,
  rows: number,
  options: LogProbOptions,
): { result: Results; outputs: OutputArguments } {
  const wantsEntropy = checkSwitch(options.entropy, "entropy", true);
  const wantsSquares = checkSwitch(options.sumSquaredProbs, "sumSquaredProbs", false);
  const logProbs = allocateResult(like, [rows]);
  const logSumExp = allocateResult(like, [rows], "float64");
  const entropy = wantsEntropy ? allocateResult(like, [rows]) : null;
  const sumSquaredProbs = wantsSquares ? allocateResult(like, [rows]) : null;
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
export function checkGradients(
  forward: { logSumExp: unknown; entropy?: unknown },
  upstream: { gradLogProbs: unknown; gradEntropy?: unknown },
  like: PlacedTensor,
  likeName: string,
  rows: number,
): GradientArguments {
  assertObject(forward, "forward");
  assertObject(upstream, "gradients");
  const { logSumExp, entropy } = forward as { logSumExp: Values; entropy?: Values };
  const { gradLogProbs, gradEntropy } = upstream as { gradLogProbs: Values; gradEntropy?: Values };
  checkResult(logSumExp, "forward.logSumExp", like, likeName, rows, "float64");
  checkResult(gradLogProbs, "gradients.gradLogProbs", like, likeName, rows);
  if (gradEntropy === undefined) return [logSumExp, null, gradLogProbs, null];
  checkResult(gradEntropy, "gradients.gradEntropy", like, likeName, rows);
  if (entropy === undefined) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      "forward.entropy: expected the entropy of the forward pass beside gradEntropy, got none",
    );
  }
  checkResult(entropy, "forward.entropy", like, likeName, rows);
  return [logSumExp, entropy, gradLogProbs, gradEntropy];
}

/** @internal Asserts that a value is an object whose members can be read. */
export function assertObject(value: unknown, name: string): void {
  if (value === null || typeof value !== "object") {
    throw new ArgumentError("ERR_ARGUMENT_TYPE", `${name}: expected an object, got ${describe(value)}`);
  }
}
