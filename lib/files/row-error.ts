/** @internal What is wrong with one row; the caller knows file and line. */
export class RowError extends Error {}

/** @internal A JSON object that nobody has looked at yet. */
export type Unchecked = Readonly<Record<string, unknown>>;
