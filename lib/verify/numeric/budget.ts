/** @internal Thrown when a pair has cost more work than it may. */
export class Exhausted extends Error {}

/** @internal Work that one pair may cost, in steps of roughly a microsecond, and in time. */
export class Budget {
  #steps: number;
  readonly #deadline: number;
  #unchecked = 0;

  constructor(steps: number, milliseconds: number) {
    this.#steps = steps;
    this.#deadline = performance.now() + milliseconds;
  }

  /** @throws {@link Exhausted} */
  spend(steps: number): void {
    this.#steps -= steps;
    this.#unchecked += steps;
    if (this.#steps < 0) throw new Exhausted("too much work");
    if (this.#unchecked < 256) return;
    this.#unchecked = 0;
    if (performance.now() > this.#deadline) throw new Exhausted("too much time");
  }
}
