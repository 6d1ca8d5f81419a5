// Values that may be on the host or on the device: what is asserted of them, and memory like theirs.
import { assertLive, assertSamePlace } from "./cuda/place.ts";
import { DeviceTensor, type DeviceType } from "./cuda/tensor.ts";
import { ArgumentError } from "./errors.ts";
import type { Mask, Owned, Ragged, RaggedData, Values } from "./ragged.ts";
import {
  type ArrayName,
  assertLength,
  assertOffsets,
  assertRagged,
  assertSameRows,
  assertTypedArray,
  assertVector,
  FLOATS,
  typeName,
} from "./validate.ts";

/** @internal Asserts an array of floats, on the host or on the device. */
export function assertValues(value: unknown, name: string): void {
  if (value instanceof DeviceTensor) assertTensor(value, name, ["float32", "float64"]);
  else assertTypedArray(value, name, FLOATS);
}

/** @internal Asserts a ragged array of floats, on the host or on the device. */
export function assertRaggedValues(value: unknown, name: string): void {
  const data = (value as Ragged<Values> | null | undefined)?.data;
  if (!(data instanceof DeviceTensor)) {
    assertRagged(value, name);
    return;
  }
  assertValues(data, `${name}.data`);
  assertOffsets((value as Ragged<Values>).offsets, data.length, `${name}.offsets`);
}

/** @internal Asserts a live tensor on the device of one of the types, and of the given length. */
export function assertTensor(
  value: unknown,
  name: string,
  types: readonly DeviceType[],
  length?: number,
): void {
  if (!(value instanceof DeviceTensor) || !types.includes(value.type)) {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `${name}: expected ${types.map((type) => `DeviceTensor<${type}>`).join(" or ")}, got ${typeName(value)}`,
    );
  }
  assertLive(value, name);
  if (length !== undefined) assertLength(value, name, length);
}

/** @internal Asserts an array of the kind of another, where that is. */
export function assertSameKind(
  value: unknown,
  name: string,
  model: RaggedData | DeviceTensor,
  modelName: string,
): void {
  assertSamePlace(value, name, model, modelName);
  if (model instanceof DeviceTensor) assertTensor(value, name, [model.type]);
  else assertTypedArray(value, name, [typeName(model) as ArrayName]);
}

/** @internal Asserts a ragged array with the dtype, the place and the rows of another. */
export function assertLike<T extends RaggedData | DeviceTensor>(
  value: Ragged<T>,
  name: string,
  model: Ragged<T>,
  modelName: string,
): void {
  if (value === null || typeof value !== "object" || !("data" in value)) {
    assertRagged(value, name);
    return;
  }
  assertSameKind(value.data, `${name}.data`, model.data, `${modelName}.data`);
  assertOffsets(value.offsets, value.data.length, `${name}.offsets`);
  assertSameRows(value.offsets, name, model.offsets, modelName);
}

/** @internal Asserts an array of the given length with the dtype and the place of another. */
export function assertVectorLike(
  value: unknown,
  name: string,
  length: number,
  model: Values,
  modelName: string,
): void {
  assertSameKind(value, name, model, modelName);
  assertLength(value as Values, name, length);
}

/**
 * @internal Asserts an optional token mask of zeros and ones; returns null for "all". Beside values on the device
 * (`like`) the mask may be there too.
 */
export function checkMask(mask: Uint8Array | undefined, name: string, length: number): Uint8Array | null;
export function checkMask(
  mask: Mask | undefined,
  name: string,
  length: number,
  like: Values | undefined,
): Mask | null;
export function checkMask(mask: Mask | undefined, name: string, length: number, like?: Values): Mask | null {
  if (mask === undefined) return null;
  if (like instanceof DeviceTensor && mask instanceof DeviceTensor) {
    assertTensor(mask, name, ["uint8"], length);
    return mask;
  }
  assertVector(mask, name, length, ["Uint8Array"]);
  return mask;
}

/** @internal A fresh array of the same element type in the same place. */
export function allocate<T extends RaggedData | DeviceTensor>(like: T, length: number): Owned<T> {
  return like instanceof DeviceTensor
    ? (like.stream.allocate(like.type, [length]) as Owned<T>)
    : new (like.constructor as new (length: number) => Owned<T>)(length);
}

/** @internal The caller's `out`, checked, or a fresh array. */
export function outputLike<T extends Values>(
  out: T | undefined,
  like: T,
  length: number,
  name = "out",
  likeName = "the values",
): Owned<T> {
  if (out === undefined) return allocate(like, length);
  assertVectorLike(out, name, length, like, likeName);
  return out as unknown as Owned<T>;
}
