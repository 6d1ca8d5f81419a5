import { DeviceTensor } from "./cuda/tensor.ts";
import { ArgumentError } from "./errors.ts";
import type { RaggedData } from "./ragged.ts";

/** @internal Names of the typed arrays that arguments may be. */
export type ArrayName =
  | "Float32Array"
  | "Float64Array"
  | "Int32Array"
  | "Uint8Array"
  | "Uint16Array"
  | "BigInt64Array";

/** @internal Typed arrays whose elements are written by the library. */
export const FLOATS: readonly ArrayName[] = ["Float32Array", "Float64Array"];

/** @internal What a value is, for messages: a constructor name, `null`, or a `typeof`. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== "object") return typeof value;
  if (value instanceof DeviceTensor) return `DeviceTensor<${value.type}>`;
  return arrayName(value) ?? value.constructor?.name ?? "object";
}

// Works across realms, where instanceof does not.
function arrayName(value: unknown): string | undefined {
  return ArrayBuffer.isView(value)
    ? ((value as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] ?? "DataView")
    : undefined;
}

/** @internal Asserts a typed array of one of the kinds, over memory that is neither shared nor detached. */
export function assertTypedArray(value: unknown, name: string, kinds: readonly ArrayName[]): void {
  const found = arrayName(value);
  if (found === undefined || !kinds.includes(found as ArrayName)) {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `${name}: expected ${kinds.join(" or ")}, got ${typeName(value)}`,
    );
  }
  const { buffer } = value as ArrayBufferView;
  if (Object.prototype.toString.call(buffer) === "[object SharedArrayBuffer]") {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `${name}: expected memory of its own, got a view on a SharedArrayBuffer`,
    );
  }
  if (isDetached(buffer as ArrayBuffer)) {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `${name}: expected readable memory, got a detached buffer (was it transferred?)`,
    );
  }
}

// ArrayBuffer.prototype.detached is missing before Node 21; a detached buffer refuses to be viewed.
function isDetached(buffer: ArrayBuffer): boolean {
  if (buffer.byteLength > 0) return false;
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

/** @internal Asserts an integer >= 0, and >= `least`. */
export function assertCount(value: unknown, name: string, least = 0): asserts value is number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `${name}: expected an integer >= 0, got ${describe(value)}`,
    );
  }
  if (value < least)
    throw new ArgumentError("ERR_ARGUMENT_VALUE", `${name}: expected at least ${least}, got ${value}`);
}

/** @internal A number in `[low, high]`, or in `(low, high]` with `open`; finite unless `high` is Infinity. */
export function assertNumber(
  value: unknown,
  name: string,
  { low = -Infinity, high = Infinity, open = false }: { low?: number; high?: number; open?: boolean } = {},
): asserts value is number {
  const ok =
    typeof value === "number" &&
    Number.isFinite(value) &&
    (open ? value > low : value >= low) &&
    value <= high;
  if (!ok) {
    const interval = `${open || low === -Infinity ? "(" : "["}${low}, ${high}${high === Infinity ? ")" : "]"}`;
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `${name}: expected a number in ${interval}, got ${describe(value)}`,
    );
  }
}

/** @internal Asserts one of a list of names. */
export function assertOneOf<const T extends string>(
  value: unknown,
  name: string,
  choices: readonly T[],
): asserts value is T {
  if (!choices.includes(value as T)) {
    const wanted = choices.map((choice) => JSON.stringify(choice)).join(", ");
    throw new ArgumentError(
      "ERR_ARGUMENT_VALUE",
      `${name}: expected one of ${wanted}, got ${describe(value)}`,
    );
  }
}

/** @internal How a wrong value is shown in a message. */
export function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "object" || typeof value === "function" ? typeName(value) : String(value);
}

/** @internal Asserts offsets that start at 0, never fall, end at `total` and have at least one row. */
export function assertOffsets(offsets: unknown, total: number, name: string): asserts offsets is Int32Array {
  assertTypedArray(offsets, name, ["Int32Array"]);
  const list = offsets as Int32Array;
  if (list.length < 2)
    throw new ArgumentError(
      "ERR_SHAPE",
      `${name}: expected at least one row, got ${Math.max(0, list.length - 1)} rows`,
    );
  if (list[0] !== 0) throw new ArgumentError("ERR_SHAPE", `${name}[0]: expected 0, got ${list[0]}`);
  for (let i = 1; i < list.length; i++) {
    if (list[i]! < list[i - 1]!) {
      throw new ArgumentError(
        "ERR_SHAPE",
        `${name}[${i}]: expected at least ${list[i - 1]} (offsets never fall), got ${list[i]}`,
      );
    }
  }
  if (list[list.length - 1] !== total) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `${name}: expected the last offset to be the data's length ${total}, got ${list[list.length - 1]}`,
    );
  }
}

/** @internal Asserts a ragged array of one of the kinds. */
export function assertRagged(value: unknown, name: string, kinds: readonly ArrayName[] = FLOATS): void {
  if (value === null || typeof value !== "object" || !("data" in value) || !("offsets" in value)) {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `${name}: expected a ragged array { data, offsets }, got ${typeName(value)}`,
    );
  }
  assertTypedArray(value.data, `${name}.data`, kinds);
  assertOffsets(value.offsets, (value.data as RaggedData).length, `${name}.offsets`);
}

/** @internal Asserts that two ragged arrays have the same rows. */
export function assertSameRows(
  offsets: Int32Array,
  name: string,
  model: Int32Array,
  modelName: string,
): void {
  if (offsets === model) return;
  if (offsets.length !== model.length) {
    throw new ArgumentError(
      "ERR_SHAPE",
      `${name}: expected the ${model.length - 1} rows of ${modelName}, got ${offsets.length - 1}`,
    );
  }
  for (let i = 1; i < model.length; i++) {
    if (offsets[i] !== model[i]) {
      const [want, got] = [model[i]! - model[i - 1]!, offsets[i]! - offsets[i - 1]!];
      throw new ArgumentError(
        "ERR_SHAPE",
        `${name}: expected row ${i - 1} to have the ${want} elements of ${modelName}, got ${got}`,
      );
    }
  }
}

/** @internal Asserts a typed array of the given length and kind: per-response values, `out` arrays. */
export function assertVector(
  value: unknown,
  name: string,
  length: number,
  kinds: readonly ArrayName[] = FLOATS,
): void {
  assertTypedArray(value, name, kinds);
  assertLength(value as RaggedData, name, length);
}

/** @internal Asserts a length. */
export function assertLength(value: { length: number }, name: string, length: number): void {
  if (value.length === length) return;
  throw new ArgumentError("ERR_SHAPE", `${name}: expected ${length} values, got ${value.length}`);
}

/** @internal Group index per response (dense, by first appearance) and the number of groups. */
export function checkGroups(
  groups: ArrayLike<number | string>,
  rows: number,
  name = "groups",
): { index: Int32Array; count: number } {
  if (groups === null || typeof groups !== "object" || typeof groups.length !== "number") {
    throw new ArgumentError(
      "ERR_ARGUMENT_TYPE",
      `${name}: expected one id per response, got ${typeName(groups)}`,
    );
  }
  if (groups.length !== rows)
    throw new ArgumentError(
      "ERR_SHAPE",
      `${name}: expected ${rows} ids, one per response, got ${groups.length}`,
    );
  const seen = new Map<number | string, number>();
  const index = new Int32Array(rows);
  for (let i = 0; i < rows; i++) {
    const id = groups[i]!;
    if ((typeof id !== "number" || Number.isNaN(id)) && typeof id !== "string") {
      throw new ArgumentError(
        "ERR_ARGUMENT_TYPE",
        `${name}[${i}]: expected a number or a string, got ${describe(id)}`,
      );
    }
    let group = seen.get(id);
    if (group === undefined) {
      group = seen.size;
      seen.set(id, group);
    }
    index[i] = group;
  }
  return { index, count: seen.size };
}
