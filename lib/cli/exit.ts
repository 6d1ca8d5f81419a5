/** @internal Exit codes of the command. A signal ends it with 128 + its number. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;
