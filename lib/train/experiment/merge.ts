/** @internal JSON with another laid over it: objects are merged key by key, all else is replaced. */
export function merged(base: unknown, over: unknown): unknown {
  if (!isObject(base) || !isObject(over)) return over;
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over))
    result[key] = Object.hasOwn(base, key) ? merged(base[key], value) : value;
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
