/** @internal The keys that have a value: what may be left out is absent, not undefined, in the options of functions. */
export function definite<T extends object>(options: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}
