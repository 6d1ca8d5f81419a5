/** @internal Thrown when a pair has cost more work than it may. */
export class Exhausted extends Error {}

/** @internal Work that one pair may cost, in steps of roughly a microsecond, and in time. */
export class Budget {
  #steps: number;
  readonly #deadline: number;
  #unchecked = 0;
  #whole: Budget | undefined;

  constructor(steps: number, milliseconds: number) {
    this.#steps = steps;
    this.#deadline = performance.now() + milliseconds;
  }

  /** Whether this one has run out, and not the one that it is a part of. */
  get exhausted(): boolean {
    return this.#steps < 0;
  }

  /** A part of this budget, which runs out on its own. */
  share(steps: number): Budget {
    const part = new Budget(steps, Number.POSITIVE_INFINITY);
    part.#whole = this;
    return part;
  }

  /** @throws {@link Exhausted} */
  spend(steps: number): void {
    this.#whole?.spend(steps);
    this.#steps -= steps;
    this.#unchecked += steps;
    if (this.#steps < 0) throw new Exhausted("too much work");
    if (this.#unchecked < 256) return;
    this.#unchecked = 0;
    if (performance.now() > this.#deadline) throw new Exhausted("too much time");
  }
}
