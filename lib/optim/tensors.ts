import { DeviceTensor } from "../cuda/tensor.ts";
import { ArgumentError } from "../errors.ts";
import type { FloatArray, Values } from "../ragged.ts";
import { assertSameKind, assertValues, assertVectorLike } from "../placed-values.ts";

/** One float array, or a list of them (one per parameter tensor). */
export type TensorList<T extends Values = FloatArray> = T | readonly T[];

/** @internal A tensor of a {@link TensorList}, with the name it has in messages. */
export interface NamedTensor<T extends Values> {
  readonly name: string;
  readonly data: T;
}

/** @internal The tensors of a list, checked; with `model`, of the same number, dtypes and lengths. */
export function checkTensors<T extends Values>(
  tensors: TensorList<T>,
  name: string,
  model?: readonly NamedTensor<T>[],
): NamedTensor<T>[] {
  const isList = Array.isArray(tensors);
  const named = isList
    ? (tensors as readonly T[]).map((data, i) => ({ name: `${name}[${i}]`, data }))
    : [{ name, data: tensors as T }];
  if (model !== undefined && named.length !== model.length) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `${name}: expected ${model.length} tensors, as many as there are parameters, got ${named.length}`,
    );
  }
  if (named.length === 0)
    throw new ArgumentError("ERR_SHAPE", `${name}: expected at least one tensor, got 0`);
  for (const [i, tensor] of named.entries()) {
    const like = model?.[i];
    if (like !== undefined)
      assertVectorLike(tensor.data, tensor.name, like.data.length, like.data, like.name);
    else assertValues(tensor.data, tensor.name);
  }
  const [first] = named as [NamedTensor<T>];
  if (named.some(({ data }) => (data as Values) instanceof DeviceTensor))
    for (const { name: other, data } of named) assertSameKind(data, other, first.data, first.name);
  return named;
}

/** @internal Asserts that no two tensors share memory: updates in place would then depend on their order. */
export function assertDisjoint(tensors: readonly NamedTensor<Values>[]): void {
  const byBuffer = new Map<object, NamedTensor<Values>[]>();
  for (const tensor of tensors) {
    if (tensor.data.length === 0) continue;
    const memory = tensor.data instanceof DeviceTensor ? tensor.data : tensor.data.buffer;
    const list = byBuffer.get(memory);
    if (list === undefined) byBuffer.set(memory, [tensor]);
    else list.push(tensor);
  }
  for (const list of byBuffer.values()) {
    list.sort((a, b) => startOf(a.data) - startOf(b.data));
    for (let i = 1; i < list.length; i++) {
      const [left, right] = [list[i - 1]!, list[i]!];
      if (endOf(left.data) > startOf(right.data)) {
        throw new ArgumentError(
          "ERR_ARGUMENT_VALUE",
          `${right.name}: expected memory of its own, got memory shared with ${left.name}`,
        );
      }
    }
  }
}

// Within its memory; a tensor on the device is all of its own.
function startOf(data: Values): number {
  return data instanceof DeviceTensor ? 0 : data.byteOffset;
}

function endOf(data: Values): number {
  return data instanceof DeviceTensor ? data.length : data.byteOffset + data.byteLength;
}
