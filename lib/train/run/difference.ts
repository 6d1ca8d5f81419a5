/** @internal A place where two JSON values differ. */
export interface Difference {
  /** Path with dots; empty for the values themselves. */
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** @internal The first place where two JSON values differ, in the order of the keys. */
export function firstDifference(before: unknown, after: unknown, key = ""): Difference | undefined {
  if (!isObject(before) || !isObject(after) || Array.isArray(before) !== Array.isArray(after))
    return Object.is(before, after) ? undefined : { key, before, after };
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const found = firstDifference(before[name], after[name], key === "" ? name : `${key}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object";
}
