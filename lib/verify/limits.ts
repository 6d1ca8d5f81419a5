/** @internal Characters of an answer that are read; a longer one is only compared as text. */
export const MAX_LENGTH = 4096;

/** @internal Braces and brackets within one another. */
export const MAX_DEPTH = 60;

/** @internal Elements of a list or set that are matched with one another. */
export const MAX_ITEMS = 200;

/** @internal Bits of an exact number. */
export const MAX_BITS = 100_000;

/** @internal Terms of a finite sum or product. */
export const MAX_TERMS = 2000;

/**
 * @internal What stops the reading of an answer: it is no mathematics, or too much of it. No Error: it is common, and a
 * stack trace is dear.
 */
export class Unreadable {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}
