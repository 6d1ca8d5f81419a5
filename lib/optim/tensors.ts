import { ArgumentError } from "../errors.ts";
import type { FloatArray } from "../ragged.ts";
import { type ArrayName, assertTypedArray, assertVector, FLOATS, typeName } from "../validate.ts";

/** One float array, or a list of them (one per parameter tensor). */
export type TensorList<T extends FloatArray = FloatArray> = T | readonly T[];

/** @internal A tensor of a {@link TensorList}, with the name it has in messages. */
export interface NamedTensor<T extends FloatArray> {
  readonly name: string;
  readonly data: T;
}

/** @internal The tensors of a list, checked; with `model`, of the same number, dtypes and lengths. */
export function checkTensors<T extends FloatArray>(
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
    const like = model?.[i]?.data;
    if (like === undefined) assertTypedArray(tensor.data, tensor.name, FLOATS);
    else assertVector(tensor.data, tensor.name, like.length, [typeName(like) as ArrayName]);
  }
  return named;
}

/** @internal Asserts that no two tensors share memory: updates in place would then depend on their order. */
export function assertDisjoint(tensors: readonly NamedTensor<FloatArray>[]): void {
  const byBuffer = new Map<ArrayBufferLike, NamedTensor<FloatArray>[]>();
  for (const tensor of tensors) {
    if (tensor.data.length === 0) continue;
    const list = byBuffer.get(tensor.data.buffer);
    if (list === undefined) byBuffer.set(tensor.data.buffer, [tensor]);
    else list.push(tensor);
  }
  for (const list of byBuffer.values()) {
    list.sort((a, b) => a.data.byteOffset - b.data.byteOffset);
    for (let i = 1; i < list.length; i++) {
      const [left, right] = [list[i - 1]!, list[i]!];
      if (left.data.byteOffset + left.data.byteLength > right.data.byteOffset) {
        throw new ArgumentError(
          "ERR_ARGUMENT_VALUE",
          `${right.name}: expected memory of its own, got memory shared with ${left.name}`,
        );
      }
    }
  }
}
