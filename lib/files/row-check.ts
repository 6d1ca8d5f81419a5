// One check per kind of value of a row. Each throws a RowError that names the key.
import { RowError, type Unchecked } from "./row-error.ts";

export function absent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** What a value is, for messages; long ones are cut. */
export function kind(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object") return "an object";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 40 ? `${text.slice(0, 40)}...` : text;
}

function fail(key: string, expected: string, value: unknown): never {
  throw new RowError(`${key}: expected ${expected}, got ${kind(value)}`);
}

/** A key that may be missing or null. */
export function optional<T>(
  row: Unchecked,
  key: string,
  read: (row: Unchecked, key: string) => T,
): T | undefined {
  return absent(row[key]) ? undefined : read(row, key);
}

export function string(row: Unchecked, key: string): string {
  const value = row[key];
  return typeof value === "string" ? value : fail(key, "a string", value);
}

/** A name that identifies something: a string, or an integer read as its decimal. */
export function name(row: Unchecked, key: string): string {
  const value = row[key];
  if (typeof value === "string" && value !== "") return value;
  return Number.isSafeInteger(value) ? String(value) : fail(key, "a non-empty string or an integer", value);
}

/** A text, or a number read as its decimal. */
export function text(row: Unchecked, key: string): string {
  const value = row[key];
  return typeof value === "string" || typeof value === "number"
    ? String(value)
    : fail(key, "a string or a number", value);
}

export function integer(row: Unchecked, key: string): number {
  const value = row[key];
  return Number.isSafeInteger(value) ? (value as number) : fail(key, "an integer", value);
}

export function boolean(row: Unchecked, key: string): boolean {
  const value = row[key];
  return typeof value === "boolean" ? value : fail(key, "true or false", value);
}

export function list(row: Unchecked, key: string, of: string, holds: (item: unknown) => boolean): unknown[] {
  const value = row[key];
  if (!Array.isArray(value)) fail(key, `a list of ${of}`, value);
  const wrong = value.findIndex((item) => !holds(item));
  return wrong < 0 ? value : fail(`${key}[${wrong}]`, of, value[wrong]);
}

export function strings(row: Unchecked, key: string): string[] {
  return list(row, key, "strings", (item) => typeof item === "string") as string[];
}

/** Finite numbers, as many as `length`. JSON reads 1e999 as Infinity, so finiteness is not a given. */
export function numbers(row: Unchecked, key: string, length: number, per: string): number[] {
  const values = list(
    row,
    key,
    "finite numbers",
    (item) => typeof item === "number" && Number.isFinite(item),
  );
  if (values.length !== length)
    throw new RowError(`${key}: expected ${length} numbers, ${per}, got ${values.length}`);
  return values as number[];
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Leaves out the keys that hold undefined, so that "absent" has one spelling. */
export function defined<T extends object>(values: T): Defined<T> {
  for (const key of Object.keys(values) as (keyof T)[]) if (values[key] === undefined) delete values[key];
  return values as Defined<T>;
}
