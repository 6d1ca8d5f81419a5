/** Mean, largest and smallest of the values seen; NaN for none. */
export interface SpreadSummary {
  /** Number of values, >= 0. */
  readonly count: number;
  /** Their mean; NaN for none. */
  readonly mean: number;
  /** Largest; NaN for none. */
  readonly max: number;
  /** Smallest; NaN for none. */
  readonly min: number;
}

/** @internal Collects a {@link SpreadSummary} value by value. */
export class Spread {
  count = 0;
  #sum = 0;
  #max = Number.NEGATIVE_INFINITY;
  #min = Number.POSITIVE_INFINITY;

  add(value: number): void {
    this.count += 1;
    this.#sum += value;
    if (value > this.#max) this.#max = value;
    if (value < this.#min) this.#min = value;
  }

  addAll(values: Iterable<number>): void {
    for (const value of values) this.add(value);
  }

  get mean(): number {
    return this.#sum / this.count;
  }

  summary(): SpreadSummary {
    const none = this.count === 0;
    return {
      count: this.count,
      mean: this.mean,
      max: none ? Number.NaN : this.#max,
      min: none ? Number.NaN : this.#min,
    };
  }
}

/** @internal Least-squares slope of y on x, point by point. */
export class Slope {
  #count = 0;
  #meanX = 0;
  #meanY = 0;
  #xx = 0;
  #xy = 0;

  add(x: number, y: number): void {
    this.#count += 1;
    const dx = x - this.#meanX;
    this.#meanX += dx / this.#count;
    this.#meanY += (y - this.#meanY) / this.#count;
    this.#xx += dx * (x - this.#meanX);
    this.#xy += dx * (y - this.#meanY);
  }

  /** NaN unless two points differ in x. */
  get value(): number {
    return this.#xx > 0 ? this.#xy / this.#xx : Number.NaN;
  }
}
