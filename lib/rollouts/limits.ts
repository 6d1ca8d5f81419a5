/** @internal A longer line is a bad line: it is passed over without being held in memory. */
export const MAX_LINE_BYTES = 64 * 2 ** 20;

/** @internal A batch takes whole groups until it has this many rollouts ... */
export const BATCH_ROLLOUTS = 512;

/** @internal ... or this many bytes of text. A single group may exceed both. */
export const BATCH_BYTES = 8 * 2 ** 20;

/** @internal Bad lines kept with their message; the others are only counted. */
export const KEPT_BAD_LINES = 100;

/** @internal Models told apart in the summary; the rollouts of any further ones are put together. */
export const MAX_GENERATORS = 200;
