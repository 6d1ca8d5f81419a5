import { Spread } from "../../metrics/spread.ts";

/** @internal Weighted means and extremes by name, collected over the micro-batches of a step. */
export class Means {
  private readonly sums = new Map<string, { value: number; weight: number }>();

  add(name: string, value: number, weight = 1): void {
    const entry = this.sums.get(name) ?? { value: 0, weight: 0 };
    entry.value += value * weight;
    entry.weight += weight;
    this.sums.set(name, entry);
  }

  /** The larger (or smaller) of the values so far and this one. */
  keep(which: "max" | "min", name: string, value: number): void {
    const known = this.sums.get(name)?.value ?? value;
    this.sums.set(name, { value: Math[which](known, value), weight: 1 });
  }

  metrics(): Record<string, number> {
    return Object.fromEntries(
      [...this.sums].map(([name, { value, weight }]) => [name, weight === 0 ? 0 : value / weight]),
    );
  }
}

/** @internal `name/mean`, `/max` and `/min` of the values that are not NaN; nothing for none. */
export function spreadMetrics(name: string, values: Iterable<number>): Record<string, number> {
  const { count, mean, max, min } = spreadOf(values);
  return count === 0 ? {} : { [`${name}/mean`]: mean, [`${name}/max`]: max, [`${name}/min`]: min };
}

/** @internal Mean of the values that are not NaN; NaN for none. */
export function meanOf(values: Iterable<number>): number {
  return spreadOf(values).mean;
}

function spreadOf(values: Iterable<number>) {
  const spread = new Spread();
  for (const value of values) if (!Number.isNaN(value)) spread.add(value);
  return spread.summary();
}
