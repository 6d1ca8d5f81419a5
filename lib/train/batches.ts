/** Indices 0 to count - 1 in a random order that seed and epoch decide. */
export declare function shuffled(count: number, seed: number, epoch: number): Int32Array;

/**
 * Splits rows into micro-batches of at most `budget` tokens, in order; a longer row is one of its own.
 *
 * @returns ranges `[from, to)` of rows
 */
export declare function packRows(lengths: ArrayLike<number>, budget: number): { from: number; to: number }[];
