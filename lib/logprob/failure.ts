import { NumericError } from "../errors.ts";
import type { NativeTensor } from "../tensor.ts";
import { TENSOR_TYPES } from "../tensor.ts";
import type { GradientArguments } from "./kernels.ts";

// One element as a number.
function elementAt({ data, element }: NativeTensor, index: number): number {
  const value = data[index]!;
  const type = TENSOR_TYPES[element];
  if (type === "bfloat16") return new Float32Array(Uint32Array.of(value << 16).buffer)[0]!;
  if (type !== "float16") return value;
  const exponent = (value >> 10) & 31;
  const fraction = value & 1023;
  if (exponent < 31) return 0; // a finite value: its size does not matter here
  if (fraction !== 0) return Number.NaN;
  return value >> 15 === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
}

/** @internal What is wrong in a row of a matrix: its first NaN or +Infinity, else undefined. */
function undefinedLogit(tensor: NativeTensor, row: number): string | undefined {
  const width = tensor.dims[1]!;
  for (let i = 0; i < width; i++) {
    const value = elementAt(tensor, row * width + i);
    if (Number.isNaN(value) || value === Number.POSITIVE_INFINITY) return `${value} at position ${i}`;
  }
  return undefined;
}

/** @internal Throws for a row of logits without a distribution. */
export function assertLogits(status: number, logits: NativeTensor): void {
  if (status < 0) return;
  const found = undefinedLogit(logits, status) ?? "only -Infinity";
  throw new NumericError(
    "ERR_NOT_FINITE",
    `logits: expected finite or -Infinity logits, not all -Infinity, at row ${status}, got ${found}`,
  );
}

/** @internal As assertLogits, for logits that nobody has seen. */
export function assertHidden(status: number, hidden: NativeTensor): void {
  if (status < 0) return;
  const found = undefinedLogit(hidden, status);
  throw new NumericError(
    "ERR_NOT_FINITE",
    found === undefined
      ? `hidden, weight, bias: expected logits without NaN and +Infinity at row ${status}, got some (or only -Infinity)`
      : `hidden: expected finite numbers at row ${status}, got ${found}`,
  );
}

/** @internal Throws for a row whose gradient is undefined. */
export function assertBackward(
  status: number,
  [logSumExp, entropy, gradLogProbs, gradEntropy]: GradientArguments,
  logits?: NativeTensor,
): void {
  if (status < 0) return;
  const suspects = {
    "gradients.gradLogProbs": gradLogProbs,
    "gradients.gradEntropy": gradEntropy,
    "forward.logSumExp": logSumExp,
    "forward.entropy": gradEntropy === null ? null : entropy,
  };
  for (const [name, values] of Object.entries(suspects)) {
    const value = values?.[status];
    if (value !== undefined && !Number.isFinite(value)) {
      throw new NumericError(
        "ERR_NOT_FINITE",
        `${name}: expected a finite number at row ${status}, got ${value}`,
      );
    }
  }
  if (logits !== undefined && undefinedLogit(logits, status) !== undefined) assertLogits(status, logits);
  throw new NumericError(
    "ERR_NOT_FINITE",
    `forward.logSumExp: expected that of the same logits and temperature at row ${status}, got ${logSumExp[status]}: the probabilities do not add up to 1`,
  );
}
