import { type Status, whenKnown } from "../cuda/status.ts";
import { DeviceTensor } from "../cuda/tensor.ts";
import { ArgumentError, NumericError } from "../errors.ts";
import { type PlacedTensor, TENSOR_TYPES } from "../tensor.ts";
import { valueAt } from "../kernel-status.ts";
import type { GradientArguments, Targets } from "./kernels.ts";

type Elements = PlacedTensor["data"];

// One element as a number.
function elementOf(bits: number, element: number): number {
  const type = TENSOR_TYPES[element];
  if (type === "bfloat16") return new Float32Array(Uint32Array.of(bits << 16).buffer)[0]!;
  if (type !== "float16") return bits;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent < 31) return 0; // a finite value: its size does not matter here
  if (fraction !== 0) return Number.NaN;
  return bits >> 15 === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
}

// What is wrong in a row of a matrix: its first NaN or +Infinity, else undefined.
function undefinedLogit(
  data: Elements | null | undefined,
  { element, dims }: PlacedTensor,
  row: number,
): string | undefined {
  const width = dims[1]!;
  if (data === null || data === undefined || (data instanceof DeviceTensor && data.disposed))
    return undefined;
  const values =
    data instanceof DeviceTensor
      ? data.read(row * width, width)
      : data.subarray(row * width, (row + 1) * width);
  const at = values.findIndex((bits) => !(elementOf(bits, element) < Number.POSITIVE_INFINITY));
  return at < 0 ? undefined : `${elementOf(values[at]!, element)} at position ${at}`;
}

// What a message needs of a tensor, without its memory.
function shapeOf({ element, dims }: PlacedTensor): PlacedTensor {
  return { data: new Float32Array(0), element, dims };
}

function throwLogits(row: number, data: Elements | null | undefined, shape: PlacedTensor): never {
  const found = undefinedLogit(data, shape, row) ?? "only -Infinity";
  throw new NumericError(
    "ERR_NOT_FINITE",
    `logits: expected finite or -Infinity logits, not all -Infinity, at row ${row}, got ${found}`,
  );
}

/** @internal Throws for a row of logits without a distribution; on the device also for a target that is no token. */
export function assertLogits(status: Status, logits: PlacedTensor, targets?: Targets): void {
  const shape = shapeOf(logits);
  const vocabulary = logits.dims[1]!;
  whenKnown<Elements | Targets>(status, { logits: logits.data, targets }, (row, suspects) => {
    if (row < 0) return;
    assertTarget(suspects.targets as Targets | undefined, row, vocabulary);
    throwLogits(row, suspects.logits as Elements | undefined, shape);
  });
}

// On the host that has been checked before the call.
function assertTarget(ids: Targets | null | undefined, row: number, vocabulary: number): void {
  const id = ids instanceof DeviceTensor && !ids.disposed ? ids.read(row, 1)[0]! : 0;
  if (id >= 0 && id < vocabulary) return;
  throw new ArgumentError(
    "ERR_ARGUMENT_VALUE",
    `targets[${row}]: expected a token id in [0, ${vocabulary}), got ${id}`,
  );
}

/** @internal As assertLogits, for logits that nobody has seen. */
export function assertHidden(
  status: Status,
  hidden: PlacedTensor,
  targets: Targets,
  vocabulary: number,
): void {
  const shape = shapeOf(hidden);
  whenKnown<Elements | Targets>(status, { hidden: hidden.data, targets }, (row, suspects) => {
    if (row < 0) return;
    assertTarget(suspects.targets as Targets | undefined, row, vocabulary);
    const found = undefinedLogit(suspects.hidden as Elements | undefined, shape, row);
    throw new NumericError(
      "ERR_NOT_FINITE",
      found === undefined
        ? `hidden, weight, bias: expected logits without NaN and +Infinity at row ${row}, got some (or only -Infinity)`
        : `hidden: expected finite numbers at row ${row}, got ${found}`,
    );
  });
}

/** @internal Throws for a row whose gradient is undefined. */
export function assertBackward(
  status: Status,
  [logSumExp, entropy, gradLogProbs, gradEntropy]: GradientArguments,
  logits?: PlacedTensor,
): void {
  const shape = logits && shapeOf(logits);
  const named = {
    "gradients.gradLogProbs": gradLogProbs,
    "gradients.gradEntropy": gradEntropy,
    "forward.logSumExp": logSumExp,
    "forward.entropy": gradEntropy === null ? null : entropy,
  };
  type Name = keyof typeof named | "logits";
  const suspects: Record<Name, Elements | null> = { ...named, logits: logits?.data ?? null };
  whenKnown<Elements>(status, suspects, (row, found) => {
    if (row < 0) return;
    for (const name of Object.keys(named)) {
      const value = valueAt(found[name] as typeof logSumExp | null | undefined, row);
      if (value !== undefined && !Number.isFinite(value)) {
        throw new NumericError(
          "ERR_NOT_FINITE",
          `${name}: expected a finite number at row ${row}, got ${value}`,
        );
      }
    }
    if (shape !== undefined && undefinedLogit(found.logits, shape, row) !== undefined)
      throwLogits(row, found.logits, shape);
    const got = valueAt(found["forward.logSumExp"] as typeof logSumExp | undefined, row);
    throw new NumericError(
      "ERR_NOT_FINITE",
      `forward.logSumExp: expected that of the same logits and temperature at row ${row}, got ${got}: the probabilities do not add up to 1`,
    );
  });
}
